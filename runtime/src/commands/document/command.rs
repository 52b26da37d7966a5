//! One entry of `commands`.

use super::{action, args, reader::Reader};
use crate::commands::{Command, Limits, is_name};
use policy_lang::diag::{Code, Diagnostic, quoted};
use policy_lang::endpoint::{SCOPES, Scope};
use policy_lang::parse::{Entry, Node};
use policy_lang::rules::{parse_duration, parse_size};
use policy_lang::scope::ScopeNeed;
use std::time::Duration;

const KEYS: &[&str] =
    &["description", "args", "scopes", "hidden", "argv", "script", "interpreter", "output", "limits"];
const LIMITS: &[&str] = &["timeout_seconds", "max_output_bytes"];

pub(super) fn read(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Command> {
    if !is_name(&entry.key) {
        let message = format!("{} is no name for a command", quoted(&entry.key));
        let finding = Diagnostic::new(Code::UnknownValue, message).at(entry.key_span);
        reader.emit(finding.help("use letters, digits, `_`, `-` and `.`"));
    }
    let what = format!("the command {}", quoted(&entry.key));
    let entries = reader.mapping(&what, &entry.value)?;
    let foreign = reader.foreign(&what, entries, KEYS);
    let key = |name: &str| entries.iter().find(|entry| entry.key == name);
    let value = |name: &str| key(name).map(|entry| &entry.value);
    let arguments = value("args").map_or_else(Vec::new, |node| args::read(reader, node));
    let description = value("description").and_then(|node| reader.text("`description`", node));
    let hidden = value("hidden").and_then(|node| reader.flag("`hidden`", node));
    let scopes = value("scopes").map_or_else(ScopeNeed::default, |node| scopes(reader, node));
    let limits = value("limits").map_or_else(Limits::default, |node| limits(reader, node));
    // Under a misspelt key the arguments may be declared: no second finding for one mistake.
    let known = (!foreign).then_some(arguments.as_slice());
    let action = action::read(reader, &what, entry.key_span, &key, known)?;
    Some(Command {
        name: entry.key.clone().into_owned(),
        description: description.unwrap_or_default(),
        arguments,
        scopes,
        hidden: hidden.unwrap_or_default(),
        limits,
        action,
    })
}

fn scopes(reader: &mut Reader<'_>, node: &Node<'_>) -> ScopeNeed {
    let items = reader.list("`scopes`", node).unwrap_or_default();
    let mut names = Vec::with_capacity(items.len());
    for item in items {
        let Some(text) = reader.text("an element of `scopes`", item) else { continue };
        // The scope of the command itself is asked by the endpoint.
        if text != Scope::CommandsRunName.as_str() && ScopeNeed::parse([text.as_str()]).is_ok() {
            names.push(text);
            continue;
        }
        let known: Vec<&str> = SCOPES.iter().map(|row| row.name).filter(|name| !name.contains('{')).collect();
        let finding = Diagnostic::new(Code::UnknownScope, format!("unknown scope {}", quoted(&text)));
        let finding = reader.suggest(finding.at(item.span), &text, item.span, &known);
        reader.emit(finding);
    }
    ScopeNeed::parse(names.iter().map(String::as_str)).unwrap_or_default()
}

fn limits(reader: &mut Reader<'_>, node: &Node<'_>) -> Limits {
    let Some(entries) = reader.mapping("`limits`", node) else { return Limits::default() };
    reader.foreign("`limits`", entries, LIMITS);
    let value = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
    let timeout = value("timeout_seconds").and_then(|node| {
        let takes = "a number of seconds or a duration such as `30s`";
        reader.quantity("`timeout_seconds`", node, takes, Code::InvalidDuration, parse_duration)
    });
    let max_output_bytes = value("max_output_bytes").and_then(|node| {
        let takes = "a number of bytes or a size such as `1MiB`";
        reader.quantity("`max_output_bytes`", node, takes, Code::InvalidSize, parse_size)
    });
    Limits { timeout: timeout.map(Duration::from_secs), max_output_bytes }
}
