//! What an agent lets its caller choose, from the three places where agents say it: `configOptions`, `modes` and the
//! older `models`.
//!
//! - `read`: one option out of each place
//! - `view`: as callers see it

mod read;
mod view;

pub use view::{Choice, CommandView, OptionView, Via};

use read::{category, of_config, of_legacy, text};
use serde_json::{Map, Value, json};

/// Everything choosable that a session's agent has told of, kept as it was told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    config: Vec<Value>,
    modes: Option<Value>,
    models: Option<Value>,
    commands: Vec<Value>,
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

fn put(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests;
