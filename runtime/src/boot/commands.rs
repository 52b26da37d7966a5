//! From `--commands` to the commands of a server. A file with a mistake in it stops the start.

use super::Fault;
use crate::commands::{Commands, document};
use policy_lang::diag::Severity;
use policy_lang::render::{RenderOptions, human};
use std::io::IsTerminal;
use std::path::Path;

/// Reads the file.
pub(super) fn load(file: &Path) -> Result<Commands, Fault> {
    let shown = file.display();
    let bytes = std::fs::read(file).map_err(|error| {
        Fault::failed(format!("cannot read the commands `{shown}`: {error}")).help("--commands names them")
    })?;
    let name = file.file_name().map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
    let read = document::read(&name, bytes);
    if read.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        let options = RenderOptions { color: std::io::stderr().is_terminal(), ..RenderOptions::default() };
        let findings = human(&read.sources, &read.diagnostics, options);
        return Err(Fault::failed(format!("the commands are refused: {shown}")).findings(findings));
    }
    Ok(Commands { registry: read.registry })
}
