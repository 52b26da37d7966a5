//! `learn`: reads audit logs and writes the least policy that still permits what they show.

mod log;

use super::Exit;
use super::check_config::sources;
use super::failure::Failure;
use super::output::Output;
use clap::Args;
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::learn::{LearnError, Learned, learn};
use policy_lang::parse::Format;
use policy_lang::stages::{Document, Inputs, compile_document};
use serde_json::json;
use std::fmt::Write;

/// Write the least policy that still permits what audit logs show
///
/// What was let in stays open, by exact id; every restriction that holds today stays; paths, programs and the scopes of
/// tokens are narrowed to what was used. The policy is compiled, asked every call again, and proved to allow nothing that
/// the policy of --from refuses. It goes to standard output, and what was granted and never used to standard error.
///
/// A log shows one path of a call and no sizes: read what comes out before you use it. Exit status: 0 written, 1 no call
/// was let in, or the policy of --from has errors, 2 usage, 3 an input cannot be read, 70 internal error.
#[derive(Debug, Args)]
pub(super) struct Learn {
    /// Audit log, one JSON line a decision, or `-` for standard input
    #[arg(required = true, value_name = "AUDIT")]
    logs: Vec<String>,
    /// The policy under which the log was written [default: the built-in defaults]
    #[arg(long, value_name = "POLICY")]
    from: Option<String>,
    /// One JSON document on stdout: the policy as text, and what was never used
    #[arg(long)]
    json: bool,
}

impl Learn {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        match self.learn(output) {
            Ok(()) => Exit::Success,
            Err(failure) => failure.tell(output),
        }
    }

    fn learn(&self, output: &mut Output) -> Result<(), Failure> {
        let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
        let from = self.from.clone().map(|name| sources(&[name])).transpose()?;
        let from = from.and_then(|mut found| found.pop());
        let document = from.as_ref().map(|source| Document {
            name: &source.name,
            bytes: source.bytes.as_deref().unwrap_or_default(),
            format: source.format,
        });
        let outcome = compile_document(document, &Inputs::new(&catalogue, &levels));
        let Some(today) = outcome.policy else {
            let name =
                from.map_or_else(|| "the default policy".to_owned(), |source| format!("`{}`", source.name));
            return Err(Failure::failed(format!("{name} has errors; `check-config` shows them")));
        };
        let mut calls = Vec::new();
        let mut skipped = 0;
        for name in &self.logs {
            let log = log::bytes(name).map_err(|error| Failure::read(name, &error))?;
            skipped += log::read(&log, &catalogue, &mut calls);
        }
        let learned = learn(&calls, &today, &catalogue).map_err(|error| match error {
            LearnError::Nothing => Failure::failed(error.to_string()),
            LearnError::Unproven(_) => Failure::internal(error.to_string()),
        })?;
        let text = policy_lang::fmt::format("learned.yaml", &learned.document, Format::Yaml)
            .unwrap_or_else(|_| learned.document.clone());
        if self.json {
            output.print(&report(&learned, &text, calls.len(), skipped));
        } else {
            output.print(&text);
            output.chatter(&summary(&learned, &catalogue, calls.len(), skipped));
        }
        Ok(())
    }
}

fn report(learned: &Learned, text: &str, calls: usize, skipped: usize) -> String {
    let scopes =
        learned.unused_scopes.iter().map(|(token, scopes)| json!({"token": token, "scopes": scopes}));
    let entries = learned.unused_entries.iter();
    let entries = entries
        .map(|(endpoint, key, list)| json!({"endpoint": endpoint, "key": key.as_str(), "entries": list}));
    let value = json!({
        "policy": text,
        "calls": calls,
        "skipped_lines": skipped,
        "refused_today": learned.refused.len(),
        "unused": {
            "endpoints": learned.unused_endpoints,
            "tokens": learned.unused_tokens,
            "scopes": scopes.collect::<Vec<_>>(),
            "entries": entries.collect::<Vec<_>>(),
        },
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

/// What was granted and never used, for people.
fn summary(learned: &Learned, catalogue: &Catalogue, calls: usize, skipped: usize) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut text = format!("learnt from {}\n", plural(calls, "call"));
    if skipped > 0 {
        let _ =
            writeln!(text, "passed over {} that tell no decision of this server", plural(skipped, "line"));
    }
    if let Some(first) = learned.refused.first() {
        let count = plural(learned.refused.len(), "call");
        let name = catalogue.name(first.endpoint);
        let _ = writeln!(text, "left out {count} that the policy refuses today, the first of `{name}`");
    }
    if !learned.unused_endpoints.is_empty() {
        let _ = writeln!(text, "never called: {}", learned.unused_endpoints.join(", "));
    }
    for (endpoint, key, list) in &learned.unused_entries {
        let _ = writeln!(text, "never touched: {} in {} of {endpoint}", list.join(", "), key.as_str());
    }
    for token in &learned.unused_tokens {
        let _ = writeln!(text, "never used: token {token}");
    }
    for (token, scopes) in &learned.unused_scopes {
        let _ = writeln!(text, "never needed: {} of token {token}", scopes.join(", "));
    }
    text
}
