//! Options and commands as callers see them, and how one is set.

use serde::Serialize;
use serde_json::{Value, json};

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
