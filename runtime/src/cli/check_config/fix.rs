//! `--fix`: makes the safe suggestions in the files themselves, and says what it did.

use super::CheckConfig;
use super::load::{Source, inputs};
use crate::boot::commands::Declared;
use crate::cli::failure::Failure;
use crate::cli::files;
use crate::cli::report::Report;
use crate::cli::report::human::View;
use policy_lang::diag::Levels;
use policy_lang::fix::{Fixed, mend, widens};
use policy_lang::form;
use policy_lang::stages::Document;
use serde_json::json;

/// Fixes one source. With `--dry-run` the patch is shown and nothing is written.
pub(super) fn fix(
    source: &mut Source,
    call: &CheckConfig,
    levels: &Levels,
    declared: &Declared,
    report: &mut Report,
    view: &mut View,
) -> Result<(), Failure> {
    let bytes = source.bytes.clone().unwrap_or_default();
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    if call.policy.is_empty() || source.name == files::STDIN {
        let message = "--fix writes the document: name its file with --policy";
        return Err(Failure::usage(message));
    }
    if form::is_compiled(text) {
        let message =
            format!("`{}` is a compiled set: fix the document that it was compiled from", source.name);
        return Err(Failure::usage(message));
    }
    let fixed = inputs(source, call, levels, declared, |inputs| {
        let document = Document { name: &source.name, bytes: &bytes, format: source.format };
        mend(document, inputs, &widens)
    });
    tell(source, call, &fixed, report, view);
    if fixed.text == text {
        return Ok(());
    }
    if call.dry_run {
        view.patch(&files::patch(&source.name, text, &fixed.text));
        return Ok(());
    }
    files::put(&source.name, fixed.text.as_bytes()).map_err(|error| Failure::write(&source.name, &error))?;
    source.bytes = Some(fixed.text.into_bytes());
    Ok(())
}

fn tell(source: &Source, call: &CheckConfig, fixed: &Fixed, report: &mut Report, view: &mut View) {
    let verb = if call.dry_run { "would fix" } else { "fixed" };
    for (code, message) in &fixed.applied {
        view.note(format!("{verb} {}: {}: {message}", source.name, code.as_str()));
        report.fixes.push(
            json!({"file": source.name, "code": code.as_str(), "message": message, "applied": !call.dry_run}),
        );
    }
    for kept in &fixed.kept {
        let code = kept.code.as_str();
        view.note(format!(
            "left {}: {code}: to {} {}, which is for you to decide",
            source.name, kept.message, kept.widens
        ));
        report.fixes.push(
            json!({"file": source.name, "code": code, "message": kept.message, "applied": false, "widens": kept.widens}),
        );
    }
}
