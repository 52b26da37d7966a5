//! `--commands`: judges what a template declares, and makes its routes and switches known to the policy.

use super::Report;
use super::human;
use super::load::Source;
use crate::boot::commands::{Declared, is_document, load};
use crate::boot::read;
use crate::cli::Exit;
use crate::cli::failure::Failure;
use crate::commands::document;
use crate::env::Env;
use policy_lang::diag::Levels;
use policy_lang::layer::{Layer, LayerKind};
use policy_lang::stages::Outcome;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Reads a declarative file and puts what was found into the report, or asks a Python template what it declares.
pub(super) fn judge(
    name: &str,
    sources: &[Source],
    levels: &Levels,
    report: &mut Report,
    view: &mut human::View,
) -> Result<Declared, Failure> {
    if !is_document(name) {
        return template(name, sources);
    }
    let bytes = read::file(Path::new(name)).map_err(|error| Failure::read(name, &error))?;
    let mut read = document::read(name, bytes);
    let left_out = levels.apply(&mut read.diagnostics);
    let outcome = Outcome {
        sources: read.sources,
        document: Some(read.source),
        layer: Layer::empty(LayerKind::Code),
        diagnostics: read.diagnostics,
        left_out,
        policy: None,
    };
    report.add(&outcome);
    view.findings(&outcome);
    Ok(Declared { registry: read.registry, ..Declared::default() })
}

/// Asks a Python template what it declares; the variables that the policies' tokens name are kept from it.
pub(in crate::cli) fn template(name: &str, sources: &[Source]) -> Result<Declared, Failure> {
    if let Err(error) = readable(name) {
        return Err(Failure::read(name, &error));
    }
    let texts = sources.iter().filter_map(|source| std::str::from_utf8(source.bytes.as_deref()?).ok());
    let policies: Vec<&str> = texts.collect();
    load(name, &Env::read(), &policies, None).map_err(|fault| Failure::of(&fault, Exit::Failure))
}

/// Whether a name that is that of a file can be read; whether there is a module of a name is for Python to say.
fn readable(name: &str) -> std::io::Result<()> {
    let file = is_document(name) || Path::new(name).extension().is_some_and(|ending| ending == "py");
    if !file {
        return Ok(());
    }
    match fs::metadata(name)? {
        found if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // A pipe can be opened once.
        found if found.is_file() => fs::File::open(name).map(drop),
        _ => Ok(()),
    }
}
