//! A change as JSON, and as a finding.

use super::load::Loaded;
use super::report::Comparison;
use crate::cli::report::keys::place;
use crate::cli::report::{Finding, PlaceView, Related};
use policy_lang::decide::VariableUse;
use policy_lang::diag::Severity;
use policy_lang::diff::accept::Entry;
use policy_lang::diff::human::headline;
use policy_lang::diff::{Beyond, Change, Evidence, Group, Said, Subject, Verdict, Witness};
use policy_lang::layer::LayerKind;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::FilePlace;
use serde_json::{Map, Value, json};

/// One comparison of the report.
pub(super) fn comparison<'a>(one: &'a Comparison, entry: &dyn Fn(&Change) -> Option<&'a Entry>) -> Value {
    let count = |verdict| one.diff.changes.iter().filter(|change| change.verdict == verdict).count();
    let of_endpoints =
        one.diff.changes.iter().filter(|change| matches!(change.subject, Subject::Endpoint(_)));
    let changes: Vec<Value> =
        one.diff.changes.iter().map(|change| self::change(one, change, entry(change))).collect();
    json!({
        "old": side(&one.old),
        "new": side(&one.new),
        "summary": {
            "widened": count(Verdict::Widened),
            "reshaped": count(Verdict::Reshaped),
            "narrowed": count(Verdict::Narrowed),
            "same": one.diff.compared.saturating_sub(of_endpoints.count()),
            "latent": one.diff.latent,
            "accepted": one.diff.widened().filter(|change| entry(change).is_some()).count(),
        },
        "changes": changes,
    })
}

fn side(side: &Loaded) -> Value {
    json!({
        "name": side.name,
        "compiled": side.compiled,
        "preset": side.policy.preset(),
        "base_dir": side.policy.base_dir(),
        "revision": side.policy.revision(),
        "dropped": side.dropped,
    })
}

fn change(one: &Comparison, change: &Change, entry: Option<&Entry>) -> Value {
    let identity = match &change.subject {
        Subject::Identity(id) => Some(id),
        _ => None,
    };
    json!({
        "subject": change.subject.name(),
        "identity": identity,
        "key": change.aspect.as_str(),
        "verdict": change.verdict.as_str(),
        "cause": change.cause.as_str(),
        "old": said(&one.old, &change.old),
        "new": said(&one.new, &change.new),
        "opens": change.opening.as_ref().map(|found| evidence(found, &one.old.policy)),
        "closes": change.closing.as_ref().map(|found| evidence(found, &one.new.policy)),
        "accepted": entry.map(|entry| json!({
            "reason": entry.reason, "author": entry.author, "expires": entry.expires,
        })),
    })
}

fn said(side: &Loaded, said: &Said) -> Value {
    json!({
        "value": said.value,
        "rule": said.rule,
        "layer": said.layer.map(LayerKind::as_str),
        "at": place(&side.policy, said.at),
    })
}

/// A call, its members and one line of it; or why there is none.
fn evidence(found: &Evidence, refusing: &CompiledPolicy) -> Value {
    match found {
        Evidence::Unproven(why) => json!({"unproven": why}),
        Evidence::Witness(witness) => json!({
            "call": witness.to_string(),
            "refused_with": witness.ask(refusing).code,
            "witness": members(witness),
        }),
    }
}

fn members(witness: &Witness) -> Value {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            members.insert(name.to_owned(), value);
        }
    };
    put("endpoint", json!(witness.endpoint));
    put("identity", json!(witness.identity));
    put("scopes", json!(witness.scopes));
    put("name", json!(witness.command_name));
    put("request_bytes", json!(witness.request_bytes));
    put("bytes", json!(witness.bytes));
    if let Some((path, op)) = &witness.path {
        put("path", json!(String::from_utf8_lossy(path)));
        put("op", json!(op.as_str()));
    }
    put("command", json!(witness.command));
    put("shell", json!(witness.shell));
    put("language", json!(witness.language));
    put("signal", json!(witness.signal));
    put("url", json!(witness.url));
    if !witness.addresses.is_empty() {
        put("addresses", json!(witness.addresses.iter().map(ToString::to_string).collect::<Vec<_>>()));
    }
    put("port", json!(witness.port));
    if let Some((name, usage)) = &witness.variable {
        let usage = match usage {
            VariableUse::Set => "set",
            VariableUse::Show => "show",
            VariableUse::Carry => "carry",
        };
        put("variable", json!({"name": name, "use": usage}));
    }
    match &witness.beyond {
        Some(Beyond::Amount(key, amount)) => put("amount", json!({"key": key.as_str(), "amount": amount})),
        Some(beyond) => put("beyond", json!(beyond.to_string())),
        None => {}
    }
    Value::Object(members)
}

/// What one edit made as a finding: at the line of the new side, or at the first line of its document.
pub(super) fn finding(
    one: &Comparison,
    group: &Group<'_>,
    (severity, accepted): (Severity, Option<String>),
) -> Finding {
    let change = group.change;
    let shown = |found: &Evidence| match found {
        Evidence::Witness(witness) => witness.to_string(),
        Evidence::Unproven(why) => format!("not proven the same: {why}"),
    };
    let mut help: Vec<String> = Vec::new();
    help.extend(change.opening.as_ref().map(|found| format!("permitted now: {}", shown(found))));
    help.extend(change.closing.as_ref().map(|found| format!("permitted before: {}", shown(found))));
    if group.endpoints.len() > 1 {
        help.push(format!("affects {}", group.endpoints.join(", ")));
    }
    help.extend(accepted);
    let at = change.new.at.filter(|at| authors(&one.new, *at));
    let related = change.old.at.filter(|at| authors(&one.old, *at));
    let before = change.old.rule.as_deref().map_or("before".to_owned(), |rule| format!("before by {rule}"));
    Finding {
        code: change.verdict.as_str(),
        level: severity.as_str(),
        message: headline(group),
        help: Some(help.join("; ")).filter(|help| !help.is_empty()),
        primary: Some(at.map_or_else(|| first_line(&one.new), |at| spot(&one.new, at))),
        related: related
            .map(|at| Related { place: spot(&one.old, at), message: before })
            .into_iter()
            .collect(),
        affects: group.endpoints.iter().map(|id| (*id).to_owned()).collect(),
        suggestions: Vec::new(),
    }
}

/// Whether a place is in the author's own document.
fn authors(side: &Loaded, at: FilePlace) -> bool {
    side.policy.resolved().files.get(at.file as usize).is_some_and(|file| file.layer == LayerKind::Policy)
}

fn spot(side: &Loaded, at: FilePlace) -> PlaceView {
    PlaceView {
        file: side.name.clone(),
        line: at.line,
        column: at.column,
        end_line: at.end_line,
        end_column: at.end_column,
        byte_start: at.byte_start,
        byte_end: at.byte_end,
    }
}

fn first_line(side: &Loaded) -> PlaceView {
    PlaceView {
        file: side.name.clone(),
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 1,
        byte_start: 0,
        byte_end: 0,
    }
}
