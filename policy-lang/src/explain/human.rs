//! An explanation as text for a terminal: the verdict first, then the gates, then the keys, then what would turn it.

mod patch;
mod table;

use super::keys::{Beaten, Holds, KeyReport, Reason};
use super::{EditReport, Explanation, GateLine, Outcome, show};
use crate::decide::Query;
use crate::diag::harmless;
use crate::endpoint::{Group, Key, Method};
use crate::layer::LayerKind;
use crate::policy::CompiledPolicy;
use crate::resolved::{FilePlace, ResolvedValue};
use table::Table;

/// How much of a list is shown before the rest is counted.
const ELEMENTS: usize = 12;

/// The whole explanation. `edits` is none for a policy without a text to edit, a compiled set; `document` is the text that
/// they are edits of, empty where there is none yet.
#[must_use]
pub fn render(
    policy: &CompiledPolicy,
    explanation: &Explanation<'_>,
    query: &Query<'_>,
    edits: Option<&[EditReport]>,
    document: &str,
) -> String {
    let mut text = head(policy, explanation, query);
    text.push_str("\ngates, in order\n");
    text.push_str(&gates(policy, &explanation.gates));
    text.push_str("\nkeys\n");
    text.push_str(&keys(policy, &explanation.keys));
    for note in &explanation.notes {
        text.push_str(&format!("\nnote: {note}\n"));
    }
    let core = policy.decl(query.endpoint).is_some_and(|decl| decl.group == Group::Core);
    text.push_str(&turning(core, explanation.allowed, edits, document));
    harmless(&text).into_owned()
}

fn head(policy: &CompiledPolicy, explanation: &Explanation<'_>, query: &Query<'_>) -> String {
    let door = policy.decl(query.endpoint).and_then(|decl| Some((decl.doors.first()?, decl.group)));
    let door = door.map_or(String::new(), |(door, group)| {
        format!("  {} {}  ({})", method(door.method), door.path, group.as_str())
    });
    let verdict = match explanation.code {
        None => "ALLOW".to_owned(),
        Some(code) => format!("DENY  {} {code}", explanation.status),
    };
    let at = explanation.at.map_or(String::new(), |at| format!("  {}", policy.print_place(at)));
    let mut text = format!("{}{door}\n{verdict}\n  by {}{at}\n", explanation.name, explanation.rule);
    let failed = explanation.gates.iter().find(|gate| gate.outcome == Outcome::Fail);
    if let Some(detail) = failed.and_then(|gate| gate.detail.as_ref()) {
        text.push_str(&format!("  {detail}\n"));
    }
    text
}

const fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Delete => "DELETE",
    }
}

fn gates(policy: &CompiledPolicy, gates: &[GateLine<'_>]) -> String {
    let mut table = Table::new();
    let mut silent = Vec::new();
    for gate in gates {
        if gate.outcome == Outcome::NotAsked {
            silent.push(gate.gate.as_str());
            continue;
        }
        let (word, code) = match gate.outcome {
            Outcome::Fail => ("FAIL", gate.code.unwrap_or_default()),
            Outcome::AtCallTime => ("at call time", ""),
            _ => ("pass", ""),
        };
        let said = match (&gate.detail, code) {
            (Some(detail), "") => detail.clone(),
            (Some(detail), code) => format!("{code}: {detail}"),
            (None, code) => code.to_owned(),
        };
        table.row([gate.gate.as_str(), word, gate.rule.unwrap_or_default(), &place(policy, gate.at), &said]);
    }
    let mut text = table.finish();
    if !silent.is_empty() {
        text.push_str(&format!("  not asked: {}\n", silent.join(", ")));
    }
    text
}

fn keys(policy: &CompiledPolicy, keys: &[KeyReport<'_>]) -> String {
    let mut table = Table::new();
    for report in keys {
        match &report.holds {
            Holds::One { winner, beaten } => {
                let mut key = report.key.as_str();
                let lines = lines(policy, report.key, &winner.value);
                for (value, at) in lines {
                    let at = at.or(winner.at);
                    table.row([key, &value, winner.rule, &place(policy, at), ""]);
                    key = "";
                }
                // That the catalogue would have said the same is no news.
                let told = |lost: &&Beaten<'_>| {
                    lost.said.layer != LayerKind::Default || lost.reason != Reason::SameValue
                };
                for lost in beaten.iter().filter(told) {
                    let value = format!("  beats {}", show::value(report.key, &lost.said.value));
                    table.row([
                        "",
                        &value,
                        lost.said.rule,
                        &place(policy, lost.said.at),
                        lost.reason.as_str(),
                    ]);
                }
            }
            Holds::Union(elements) => {
                let mut key = report.key.as_str();
                for element in elements.iter().take(ELEMENTS) {
                    let value = with_absolute(policy, report.key, element.value);
                    table.row([key, &value, element.rule, &place(policy, element.at), ""]);
                    key = "";
                }
                if elements.len() > ELEMENTS {
                    table.row([key, &format!("… {} more", elements.len() - ELEMENTS), "", "", ""]);
                }
            }
        }
    }
    table.finish()
}

/// A value on a line; a list of paths one a line, each with what it stands for.
fn lines(policy: &CompiledPolicy, key: Key, value: &ResolvedValue) -> Vec<(String, Option<FilePlace>)> {
    match value {
        ResolvedValue::List(list)
            if matches!(key, Key::PathsAllow | Key::PathsReadOnly) && !list.is_empty() =>
        {
            let shown = list
                .iter()
                .take(ELEMENTS)
                .map(|element| (with_absolute(policy, key, element.value), element.at));
            let more = list.len().saturating_sub(ELEMENTS);
            shown.chain((more > 0).then(|| (format!("… {more} more"), None))).collect()
        }
        ResolvedValue::List(list) if list.is_empty() && key == Key::Scopes => {
            vec![("[] (none asked)".to_owned(), None)]
        }
        ResolvedValue::List(list) if list.is_empty() => vec![("[] (nothing)".to_owned(), None)],
        value => vec![(show::value(key, value), None)],
    }
}

fn with_absolute(policy: &CompiledPolicy, key: Key, pattern: &str) -> String {
    match show::absolute_form(key, pattern, policy.base_dir()) {
        Some(absolute) => format!("{pattern} = {absolute}"),
        None => pattern.to_owned(),
    }
}

fn place(policy: &CompiledPolicy, at: Option<FilePlace>) -> String {
    at.map_or(String::new(), |at| policy.print_place(at))
}

fn turning(core: bool, allowed: bool, edits: Option<&[EditReport]>, document: &str) -> String {
    let verb = if allowed { "to deny it" } else { "to allow it" };
    if edits.is_none_or(<[_]>::is_empty) && core && allowed {
        return "\nto deny it: core endpoints cannot be closed\n".to_owned();
    }
    let Some(edits) = edits else {
        return format!(
            "\n{verb}: change the document that the set was compiled from, and compile it again\n"
        );
    };
    if edits.is_empty() {
        return format!("\n{verb}: no small change of this document does\n");
    }
    let mut text = format!("\n{verb}\n");
    for (number, edit) in (1..).zip(edits) {
        text.push_str(&format!("  {number}. {}\n", edit.message));
        text.push_str(&patch::unified(&edit.file, document, &edit.edits));
    }
    text
}
