//! `check-config --commands`: judges the file of commands beside the policy.

use super::Report;
use super::human;
use super::load::Failure;
use crate::cli::Exit;
use crate::commands::document;
use policy_lang::diag::Levels;
use policy_lang::layer::{Layer, LayerKind};
use policy_lang::stages::Outcome;

/// Reads the file and puts what was found into the report.
pub(super) fn judge(
    file: &str,
    levels: &Levels,
    report: &mut Report,
    view: &mut human::View,
) -> Result<(), Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure {
        exit: Exit::Unreadable,
        message: format!("cannot read `{file}`: {error}"),
    })?;
    let mut read = document::read(file, bytes);
    levels.apply(&mut read.diagnostics);
    let outcome = Outcome {
        sources: read.sources,
        document: Some(read.source),
        layer: Layer::empty(LayerKind::Code),
        diagnostics: read.diagnostics,
        policy: None,
    };
    report.add(&outcome);
    view.findings(&outcome);
    Ok(())
}
