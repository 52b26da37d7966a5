//! An explanation as the report shows it.

use policy_lang::explain::{EditReport, Explanation, GateLine};
use policy_lang::policy::CompiledPolicy;
use serde_json::{Value, json};

use crate::cli::report::keys;

/// The `explain` member of the report.
pub(super) fn explanation(policy: &CompiledPolicy, said: &Explanation<'_>, edits: &[EditReport]) -> Value {
    json!({
        "endpoint": said.name,
        "verdict": if said.allowed { "allow" } else { "deny" },
        "status": said.status,
        "code": said.code,
        "rule": said.rule,
        "at": keys::place(policy, said.at),
        "gates": said.gates.iter().map(|line| gate(policy, line)).collect::<Vec<_>>(),
        "edits": edits.iter().map(edit).collect::<Vec<_>>(),
        "notes": said.notes,
    })
}

fn gate(policy: &CompiledPolicy, line: &GateLine<'_>) -> Value {
    json!({
        "gate": line.gate.as_str(),
        "outcome": line.outcome.as_str(),
        "status": line.status,
        "code": line.code,
        "rule": line.rule,
        "at": keys::place(policy, line.at),
        "detail": line.detail,
    })
}

fn edit(report: &EditReport) -> Value {
    let edits = report.edits.iter().map(|edit| {
        json!({
            "file": report.file,
            "byte_start": edit.byte_start,
            "byte_end": edit.byte_end,
            "replacement": edit.replacement,
        })
    });
    json!({"message": report.message, "edits": edits.collect::<Vec<_>>()})
}
