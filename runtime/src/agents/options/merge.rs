//! What an agent lets its caller choose, from the three places where agents say it: `configOptions`, `modes` and the
//! older `models`.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// Everything choosable that a session's agent has told of, kept as it was told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    config: Vec<Value>,
    modes: Option<Value>,
    models: Option<Value>,
    commands: Vec<Value>,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OptionView {
    /// Its id; `mode` and `model` for what is no configuration option.
    pub option_id: String,
    /// Its name.
    pub name: String,
    /// `mode`, `model`, `model_config`, `thought_level` or `other`.
    pub category: &'static str,
    /// `select` or `boolean`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is set to.
    pub value: Value,
    /// What it can be set to.
    pub choices: Vec<Choice>,
    /// How it is set: `config`, `mode` or `model`.
    pub via: Via,
}

/// One value that an option can have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The value.
    pub value: Value,
    /// Its name.
    pub name: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The group that the agent puts it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// The method that sets an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// `session/set_config_option`.
    Config,
    /// `session/set_mode`.
    Mode,
    /// `session/set_model`.
    Model,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandView {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may stand behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Options {
    /// Reads what was stored by [`Options::to_value`].
    #[must_use]
    pub fn from_value(stored: &Value) -> Self {
        let list = |name: &str| stored.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let object = |name: &str| stored.get(name).filter(|value| value.is_object()).cloned();
        Self {
            config: list("configOptions"),
            modes: object("modes"),
            models: object("models"),
            commands: list("availableCommands"),
        }
    }

    /// As it is stored.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "configOptions": self.config, "modes": self.modes, "models": self.models,
            "availableCommands": self.commands,
        })
    }

    /// Takes what the answer to `session/new`, `load`, `resume` or `fork` says; what it leaves out stays.
    pub fn opened(&mut self, answer: &Value) {
        self.take_config(answer);
        if let Some(modes) = answer.get("modes").filter(|modes| modes.is_object()) {
            self.modes = Some(modes.clone());
        }
        if let Some(models) = answer.get("models").filter(|models| models.is_object()) {
            self.models = Some(models.clone());
        }
    }

    /// Takes a complete state of the configuration options; whether there was one.
    pub fn take_config(&mut self, said: &Value) -> bool {
        let Some(config) = said.get("configOptions").and_then(Value::as_array) else { return false };
        self.config.clone_from(config);
        true
    }

    /// Takes the slash commands.
    pub fn take_commands(&mut self, said: &Value) {
        if let Some(commands) = said.get("availableCommands").and_then(Value::as_array) {
            self.commands.clone_from(commands);
        }
    }

    /// Takes the mode that now holds.
    pub fn take_mode(&mut self, mode: &str) {
        let modes = self.modes.get_or_insert_with(|| json!({"availableModes": []}));
        put(modes, "currentModeId", mode.into());
        for option in self.config.iter_mut().filter(|option| category(option) == "mode") {
            put(option, "currentValue", mode.into());
        }
    }

    /// Every option: configuration first. Modes and models show only where no configuration option stands for them.
    #[must_use]
    pub fn views(&self) -> Vec<OptionView> {
        let mut views: Vec<OptionView> = self.config.iter().filter_map(of_config).collect();
        let stands = |views: &[OptionView], category| views.iter().any(|view| view.category == category);
        if !stands(&views, "mode")
            && let Some(modes) = &self.modes
        {
            views.extend(of_legacy(modes, Via::Mode, ["currentModeId", "availableModes", "id"]));
        }
        if !stands(&views, "model")
            && let Some(models) = &self.models
        {
            views.extend(of_legacy(models, Via::Model, ["currentModelId", "availableModels", "modelId"]));
        }
        views
    }

    /// Every slash command.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandView> {
        let view = |command: &Value| {
            Some(CommandView {
                name: text(command, "name")?,
                description: text(command, "description").unwrap_or_default(),
                hint: command.get("input").and_then(|input| text(input, "hint")),
            })
        };
        self.commands.iter().filter_map(view).collect()
    }

    /// The option of that id, or else the first of that category.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<OptionView> {
        let mut views = self.views();
        let at = views
            .iter()
            .position(|view| view.option_id == key)
            .or_else(|| views.iter().position(|view| view.category == key))?;
        Some(views.swap_remove(at))
    }

    /// What each option is set to, by id.
    #[must_use]
    pub fn values(&self) -> Map<String, Value> {
        self.views().into_iter().map(|view| (view.option_id, view.value)).collect()
    }

    /// Notes that an option has been set, where the agent's answer has no complete state.
    pub fn set(&mut self, view: &OptionView, value: &Value) {
        match view.via {
            Via::Config => {
                let named = |option: &&mut Value| text(option, "id").as_deref() == Some(&view.option_id);
                if let Some(option) = self.config.iter_mut().find(named) {
                    put(option, "currentValue", value.clone());
                }
            }
            Via::Mode => {
                if let Some(modes) = &mut self.modes {
                    put(modes, "currentModeId", value.clone());
                }
            }
            Via::Model => {
                if let Some(models) = &mut self.models {
                    put(models, "currentModelId", value.clone());
                }
            }
        }
    }
}

impl OptionView {
    /// Whether the value can be chosen.
    #[must_use]
    pub fn takes(&self, value: &Value) -> bool {
        if self.kind == "boolean" {
            return value.is_boolean();
        }
        self.choices.iter().any(|choice| choice.value == *value)
    }

    /// The request that sets it: method and parameters without the session.
    #[must_use]
    pub fn setter(&self, value: &Value) -> (&'static str, Value) {
        match self.via {
            Via::Mode => ("session/set_mode", json!({"modeId": value})),
            Via::Model => ("session/set_model", json!({"modelId": value})),
            Via::Config if self.kind == "boolean" => {
                let params = json!({"configId": self.option_id, "type": "boolean", "value": value});
                ("session/set_config_option", params)
            }
            Via::Config => ("session/set_config_option", json!({"configId": self.option_id, "value": value})),
        }
    }

    /// Whether the value is a mode in which the agent asks nobody for leave.
    #[must_use]
    pub fn bypasses(&self, value: &Value) -> bool {
        let chosen = self.choices.iter().find(|choice| choice.value == *value);
        let names = [value.as_str(), chosen.map(|choice| choice.name.as_str())];
        let bypass = |name: &str| {
            let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let name = name.to_ascii_lowercase();
            ["bypass", "yolo", "fullaccess", "dontask", "autoapprove", "skippermission", "danger"]
                .iter()
                .any(|word| name.contains(word))
        };
        self.category == "mode" && names.into_iter().flatten().any(bypass)
    }
}

fn category(option: &Value) -> &'static str {
    match option.get("category").and_then(Value::as_str) {
        Some("mode") => "mode",
        Some("model") => "model",
        Some("model_config") => "model_config",
        Some("thought_level") => "thought_level",
        _ => "other",
    }
}

fn of_config(option: &Value) -> Option<OptionView> {
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

fn of_legacy(said: &Value, via: Via, [current, available, id]: [&str; 3]) -> Option<OptionView> {
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

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn put(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests;
