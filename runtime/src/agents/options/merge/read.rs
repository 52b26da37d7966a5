//! One option out of each of the places where agents say it.

use super::view::{Choice, OptionView, Via};
use serde_json::Value;

pub(super) fn category(option: &Value) -> &'static str {
    match option.get("category").and_then(Value::as_str) {
        Some("mode") => "mode",
        Some("model") => "model",
        Some("model_config") => "model_config",
        Some("thought_level") => "thought_level",
        _ => "other",
    }
}

pub(super) fn of_config(option: &Value) -> Option<OptionView> {
    let id = text(option, "id")?;
    let boolean = option.get("type").and_then(Value::as_str) == Some("boolean");
    let listed = option.get("options").and_then(Value::as_array).into_iter().flatten();
    let mut choices = Vec::new();
    for entry in listed {
        match entry.get("options").and_then(Value::as_array) {
            Some(inner) => {
                let group = text(entry, "name").or_else(|| text(entry, "group"));
                choices.extend(inner.iter().filter_map(|entry| choice(entry, "value", group.clone())));
            }
            None => choices.extend(choice(entry, "value", None)),
        }
    }
    Some(OptionView {
        name: text(option, "name").unwrap_or_else(|| id.clone()),
        option_id: id,
        category: category(option),
        kind: if boolean { "boolean" } else { "select" },
        value: option.get("currentValue").cloned().unwrap_or_default(),
        choices,
        via: Via::Config,
    })
}

pub(super) fn of_legacy(said: &Value, via: Via, [current, available, id]: [&str; 3]) -> Option<OptionView> {
    let listed = said.get(available).and_then(Value::as_array)?;
    let (option_id, name): (&'static str, _) =
        if via == Via::Mode { ("mode", "Mode") } else { ("model", "Model") };
    Some(OptionView {
        option_id: option_id.to_owned(),
        name: name.to_owned(),
        category: option_id,
        kind: "select",
        value: said.get(current).cloned().unwrap_or_default(),
        choices: listed.iter().filter_map(|entry| choice(entry, id, None)).collect(),
        via,
    })
}

fn choice(entry: &Value, id: &str, group: Option<String>) -> Option<Choice> {
    let value = entry.get(id)?.clone();
    let name = text(entry, "name").or_else(|| value.as_str().map(str::to_owned)).unwrap_or_default();
    Some(Choice { value, name, description: text(entry, "description"), group })
}

pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}
