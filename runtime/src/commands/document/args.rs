//! The entries of `args`: what a command takes.

use super::reader::Reader;
use crate::commands::arguments::{Argument, ArgumentKind, is_name};
use policy_lang::diag::{Code, Diagnostic, quoted};
use policy_lang::parse::{Entry, Node, NodeKind};
use serde_json::Value;

const KEYS: &[&str] = &["type", "default", "required", "description"];

pub(super) fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<Argument> {
    let entries = reader.mapping("`args`", node).unwrap_or_default();
    entries.iter().filter_map(|entry| argument(reader, entry)).collect()
}

fn argument(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Argument> {
    let what = format!("the argument {}", quoted(&entry.key));
    if !is_name(&entry.key) {
        let message = format!("{} is no name for an argument", quoted(&entry.key));
        let finding = Diagnostic::new(Code::UnknownValue, message).at(entry.key_span);
        reader.emit(finding.help("use letters, digits and `_`, and begin with no digit"));
    }
    let name = entry.key.clone().into_owned();
    if matches!(entry.value.kind, NodeKind::Text { .. }) {
        let kind = kind(reader, &what, &entry.value).unwrap_or(ArgumentKind::String);
        return Some(Argument { name, kind, required: true, default: None, description: String::new() });
    }
    let entries = reader.mapping(&what, &entry.value)?;
    reader.foreign(&what, entries, KEYS);
    let key = |name: &str| entries.iter().find(|entry| entry.key == name);
    // With a type that is none, nothing can be said about the default.
    let kind = match key("type") {
        Some(entry) => kind(reader, "`type`", &entry.value),
        None => Some(ArgumentKind::String),
    };
    let default = key("default").and_then(|entry| default(reader, kind?, &entry.value));
    let kind = kind.unwrap_or(ArgumentKind::String);
    let required = key("required").and_then(|entry| Some((reader.flag("`required`", &entry.value)?, entry)));
    if let (Some((true, entry)), Some(default)) = (required, key("default")) {
        let message = format!("{what} is required, so that its default never holds");
        let finding = Diagnostic::new(Code::WrongType, message).at(default.key_span);
        reader.emit(finding.related(entry.key_span, "required here").help("remove one of the two"));
    }
    let description = key("description").and_then(|entry| reader.text("`description`", &entry.value));
    Some(Argument {
        name,
        kind,
        required: required.map_or(key("default").is_none(), |(required, _)| required),
        default,
        description: description.unwrap_or_default(),
    })
}

fn kind(reader: &mut Reader<'_>, what: &str, node: &Node<'_>) -> Option<ArgumentKind> {
    let kinds = ArgumentKind::ALL.map(|kind| (kind.as_str(), kind));
    reader.word(what, node, &kinds)
}

/// A default has exactly the type of its argument: nothing is converted that the author can write as it is meant.
fn default(reader: &mut Reader<'_>, kind: ArgumentKind, node: &Node<'_>) -> Option<Value> {
    let value = match (&node.kind, kind) {
        (NodeKind::Text { text, .. }, ArgumentKind::String) => Some(Value::from(text.as_ref())),
        (NodeKind::Int(number), ArgumentKind::Integer) => Some(Value::from(*number)),
        #[expect(clippy::cast_precision_loss, reason = "that is what writing it for a float asks for")]
        (NodeKind::Int(number), ArgumentKind::Float) => Some(Value::from(*number as f64)),
        (NodeKind::Float(number), ArgumentKind::Float) => ArgumentKind::Float.convert(Value::from(*number)),
        (NodeKind::Bool(flag), ArgumentKind::Boolean) => Some(Value::from(*flag)),
        _ => None,
    };
    if value.is_none() {
        let takes = match kind {
            ArgumentKind::String => "text",
            ArgumentKind::Boolean => "true or false",
            other => other.takes(),
        };
        reader.wrong(&format!("`default` of a {} argument", kind.as_str()), takes, node);
    }
    value
}
