//! `--commands`: judges what a template declares, and makes its routes and switches known to the policy.

use super::Report;
use super::human;
use super::load::{Failure, Source};
use crate::boot::commands::{Declared, is_document, load};
use crate::cli::Exit;
use crate::commands::document;
use crate::env::Env;
use policy_lang::diag::Levels;
use policy_lang::layer::{Layer, LayerKind};
use policy_lang::stages::Outcome;

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
    let bytes = std::fs::read(name).map_err(|error| Failure {
        exit: Exit::Unreadable,
        message: format!("cannot read `{name}`: {error}"),
    })?;
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
    let texts = sources.iter().filter_map(|source| std::str::from_utf8(source.bytes.as_deref()?).ok());
    let policies: Vec<&str> = texts.collect();
    load(name, &Env::read(), &policies, None)
        .map_err(|fault| Failure { exit: Exit::Failure, message: fault.message().to_owned() })
}
