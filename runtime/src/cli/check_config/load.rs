//! What `check-config` reads: the files that were named, or what `serve` would load here.

use super::CheckConfig;
use crate::boot::commands::Declared;
use crate::boot::read::Policy;
use crate::boot::source;
use crate::cli::Exit;
use crate::cli::failure::Failure;
use crate::cli::files;
use policy_lang::check::Facts;
use policy_lang::diag::Levels;
use policy_lang::form::{self, FormError};
use policy_lang::parse::Format;
use policy_lang::stages::{Document, Inputs, Outcome, compile_document, load_compiled};
use std::path::Path;

/// A policy to judge.
#[derive(Debug)]
pub(in crate::cli) struct Source {
    /// As reports name it.
    pub(in crate::cli) name: String,
    /// Where it was found, for people, when it was not named.
    pub(in crate::cli) found: Option<String>,
    /// How to read it.
    pub(in crate::cli) format: Format,
    /// Its bytes; none where there is no document at all.
    pub(in crate::cli) bytes: Option<Vec<u8>>,
}

/// Reads every named file, or finds what `serve` would load.
pub(in crate::cli) fn sources(named: &[String]) -> Result<Vec<Source>, Failure> {
    if named.is_empty() {
        return Ok(vec![here()?]);
    }
    if named.iter().filter(|name| *name == "-").count() > 1 {
        return Err(Failure::usage("standard input is read once: give `-` once"));
    }
    named.iter().map(|name| read(name)).collect()
}

fn read(name: &str) -> Result<Source, Failure> {
    let (name, bytes) = files::document(name)?;
    Ok(Source { name: name.to_owned(), found: None, format: format(name), bytes: Some(bytes) })
}

/// What `serve` would load here, by the same search.
fn here() -> Result<Source, Failure> {
    let env = crate::env::Env::read();
    // `serve` would not start with it.
    env.base_values().map_err(Failure::failed)?;
    let found = source::find(None, &env, source::When::Start)
        .map_err(|fault| Failure::of(&fault, Exit::Unreadable))?;
    let whole = found.policy.map(Policy::whole).transpose();
    let bytes =
        whole.map_err(|why| Failure::read(&found.name, &std::io::Error::other(why)))?.map(String::into_bytes);
    Ok(Source { found: Some(found.name.clone()), name: found.name, format: found.format, bytes })
}

/// One compilation with all that took part in it.
pub(super) struct Run<'a> {
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) document: Option<Document<'a>>,
    /// Whether the source is a compiled set, of which nothing is text to edit.
    pub(super) compiled: bool,
    pub(super) outcome: Outcome,
}

impl<'a> Run<'a> {
    /// The author's text; empty where there is none.
    pub(super) fn text(&self) -> &'a str {
        self.document.and_then(|document| std::str::from_utf8(document.bytes).ok()).unwrap_or_default()
    }
}

/// What takes part beside a source, as this call and this machine say.
pub(super) fn inputs<T>(
    source: &Source,
    call: &CheckConfig,
    levels: &Levels,
    declared: &Declared,
    then: impl FnOnce(&Inputs<'_>) -> T,
) -> T {
    let env = crate::env::Env::read();
    let is_set = |variable: &str| env.secret(variable).is_some();
    // The environment is that of the server only where the policy is the one that `serve` would load here.
    let here = source.found.is_some();
    let base_values = if here { env.base_values().unwrap_or_default() } else { Vec::new() };
    then(&Inputs {
        preset: call.preset.as_deref(),
        base_dir: call.base_dir.as_deref(),
        enabled_groups: env.enabled_groups.as_deref().filter(|_| here),
        default_base_dir: env.base_dir.as_deref().filter(|_| here),
        facts: Facts {
            variable_is_set: here.then_some(&is_set as &dyn Fn(&str) -> bool),
            server_token: here && env.server_token().is_some(),
        },
        switches: &declared.switches,
        base_values: &base_values,
        revision: call.format().names_the_revision(),
        ..Inputs::new(declared.routes.catalogue(), levels)
    })
}

/// Compiles a source as this call asks for it, and hands it on.
pub(super) fn compile<T>(
    source: &Source,
    call: &CheckConfig,
    levels: &Levels,
    declared: &Declared,
    then: impl FnOnce(&Run<'_>) -> T,
) -> Result<T, Failure> {
    inputs(source, call, levels, declared, |inputs| compile_with(source, call, inputs, then))
}

fn compile_with<T>(
    source: &Source,
    call: &CheckConfig,
    inputs: &Inputs<'_>,
    then: impl FnOnce(&Run<'_>) -> T,
) -> Result<T, Failure> {
    let text = source.bytes.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let compiled = text.filter(|text| form::is_compiled(text));
    if compiled.is_some() && call.preset.is_some() {
        let name = &source.name;
        let message =
            format!("`{name}` is a compiled set: its preset is settled, and --preset cannot replace it");
        return Err(Failure::usage(message));
    }
    let document = source.bytes.as_deref().filter(|_| compiled.is_none());
    let document = document.map(|bytes| Document { name: &source.name, bytes, format: source.format });
    let outcome = match compiled {
        Some(text) => set(text, inputs).map_err(|error| Failure::set(&source.name, &error))?,
        None => compile_document(document, inputs),
    };
    let run = Run { inputs, document, compiled: compiled.is_some(), outcome };
    let done = then(&run);
    if call.policy.len() <= 1 {
        // The process ends next: to give a large policy back piece by piece takes as long as to parse it.
        std::mem::forget(run);
    }
    Ok(done)
}

/// Loads a set as `serve` does, and looks at what that has no time for.
fn set(text: &str, inputs: &Inputs<'_>) -> Result<Outcome, FormError> {
    let outcome = load_compiled(text.to_owned().into(), inputs)?;
    outcome.resolved().map_or(Ok(()), form::vouch)?;
    Ok(outcome)
}

/// By the name's ending; what has none is looked at.
pub(in crate::cli) fn format(name: &str) -> Format {
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("yaml" | "yml") => Format::Yaml,
        Some("json") => Format::Json,
        _ => Format::Auto,
    }
}
