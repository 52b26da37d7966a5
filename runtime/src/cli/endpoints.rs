//! `endpoints`: the catalogue as a table, or as JSON.

use super::Exit;
use super::output::Output;
use clap::Args;
use policy_lang::endpoint::{BaseValue, BodyKind, Door, ENDPOINTS, EndpointDecl, Group};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// List every endpoint: id, door, group, scopes
#[derive(Debug, Args)]
pub(super) struct Endpoints {
    /// Only the endpoints of this group
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// A JSON list instead of a table
    #[arg(long)]
    json: bool,
}

impl Endpoints {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let group = match self.group.as_deref().map(|name| (name, Group::from_name(name))) {
            None => None,
            Some((_, Some(group))) => Some(group),
            Some((name, None)) => {
                let known: Vec<&str> = Group::ALL.iter().map(|group| group.as_str()).collect();
                output
                    .complain(&format!("unknown group `{name}`; the groups are {}", known.join(", ")), None);
                return Exit::Usage;
            }
        };
        let rows: Vec<&EndpointDecl> =
            ENDPOINTS.iter().filter(|row| group.is_none_or(|group| group == row.group)).collect();
        if self.json {
            let list: Vec<Value> = rows.into_iter().map(entry).collect();
            output.print(&format!("{}\n", serde_json::to_string_pretty(&list).unwrap_or_default()));
        } else {
            output.print(&table(&rows));
        }
        Exit::Success
    }
}

fn table(rows: &[&EndpointDecl]) -> String {
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let door = row.doors.first();
            [
                row.name.to_owned(),
                door.map_or_else(String::new, |door| door.method.as_str().to_owned()),
                door.map_or_else(String::new, |door| door.path.to_owned()),
                row.group.as_str().to_owned(),
                if row.scopes.is_empty() { "-".to_owned() } else { row.scopes.join(" ") },
            ]
        })
        .collect();
    let heads = ["ID", "METHOD", "PATH", "GROUP", "SCOPES"].map(str::to_owned);
    let mut widths = heads.each_ref().map(String::len);
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut out = String::new();
    for row in std::iter::once(&heads).chain(&cells) {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// One endpoint as `endpoints --json` and the OpenAPI extension show it.
pub(super) fn entry(row: &EndpointDecl) -> Value {
    let (first, also) = row.doors.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    let (limits, params): (Vec<_>, Vec<_>) =
        row.base.iter().partition(|(key, _)| key.as_str().starts_with("limits."));
    json!({
        "id": row.name,
        "method": first.map(|door| door.method.as_str()),
        "path": first.map(|door| door.path),
        "also": also.iter().map(door_json).collect::<Vec<_>>(),
        "group": row.group.as_str(),
        "scopes": row.scopes,
        "streaming": row.streaming,
        "summary": row.summary,
        "accepts": row.accepts.iter().map(|key| key.as_str()).collect::<Vec<_>>(),
        "limits": values(&limits),
        "params": values(&params),
    })
}

fn door_json(door: &Door) -> Value {
    let body = match door.body {
        BodyKind::None => "none",
        BodyKind::Json => "json",
        BodyKind::Raw => "raw",
        BodyKind::Multipart => "multipart",
    };
    json!({"method": door.method.as_str(), "path": door.path, "body": body, "upgrade": door.upgrade})
}

fn values(base: &[&(policy_lang::endpoint::Key, BaseValue)]) -> Value {
    let pair = |(key, value): &&(policy_lang::endpoint::Key, BaseValue)| {
        let name = key.as_str().split_once('.').map_or(key.as_str(), |(_, name)| name);
        let value = match value {
            BaseValue::Bool(value) => json!(value),
            BaseValue::Number(value) => json!(value),
            BaseValue::Words(value) => json!(value),
            BaseValue::Numbers(value) => json!(value),
        };
        (name.to_owned(), value)
    };
    Value::Object(base.iter().map(pair).collect::<Map<_, _>>())
}
