//! Every command of a server. Frozen when the server starts: nothing is added while it runs.

use super::{Command, is_name};
use policy_lang::scope::{ScopeNeed, ScopeSet};
use std::collections::BTreeMap;

/// The commands, by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    commands: BTreeMap<String, Command>,
}

/// Why a command was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// A name that no path or scope can carry.
    #[error("`{0}` is no name for a command: use letters, digits, `_`, `-` and `.`")]
    Name(String),
    /// There is one of that name.
    #[error("the command `{0}` is registered twice")]
    Twice(String),
    /// An argument occurs twice.
    #[error("the command `{command}` has two arguments `{argument}`")]
    Argument {
        /// The command.
        command: String,
        /// The argument.
        argument: String,
    },
    /// It asks for what is no scope.
    #[error("`{scope}` is no scope, and the command `{command}` asks for it")]
    Scope {
        /// The command.
        command: String,
        /// What it asks for.
        scope: String,
    },
}

impl Registry {
    /// Adds a command.
    ///
    /// # Errors
    /// Its name is no name or is taken, or two of its arguments have one name.
    pub fn register(&mut self, command: Command) -> Result<(), RegistryError> {
        if !is_name(&command.name) {
            return Err(RegistryError::Name(command.name));
        }
        if self.commands.contains_key(&command.name) {
            return Err(RegistryError::Twice(command.name));
        }
        for (at, argument) in command.arguments.iter().enumerate() {
            if command.arguments.iter().take(at).any(|earlier| earlier.name == argument.name) {
                let argument = argument.name.clone();
                return Err(RegistryError::Argument { command: command.name, argument });
            }
        }
        self.commands.insert(command.name.clone(), command);
        Ok(())
    }

    /// Every command, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.commands.values()
    }

    /// The command of this name, if a caller with these scopes may know of it.
    #[must_use]
    pub fn find(&self, name: &str, holder: &ScopeSet) -> Option<&Command> {
        self.commands.get(name).filter(|command| command.is_known_to(holder))
    }

    /// What is listed to a caller: what is not hidden and may be run. `need` is what the endpoint that runs commands
    /// asks.
    pub fn listed<'a>(
        &'a self,
        holder: &'a ScopeSet,
        need: &'a ScopeNeed,
    ) -> impl Iterator<Item = &'a Command> {
        self.iter().filter(move |command| {
            let may_run = need.missing(holder, Some(&command.name)).is_none();
            !command.hidden && may_run && command.is_known_to(holder)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{Action, Limits, Output, Program};

    fn command(name: &str, scopes: &[&str]) -> Command {
        Command {
            name: name.to_owned(),
            description: String::new(),
            arguments: Vec::new(),
            scopes: ScopeNeed::parse(scopes.iter().copied()).unwrap(),
            hidden: name.starts_with('_'),
            limits: Limits::default(),
            action: Action::Program(Program { command: Vec::new(), script: None, output: Output::Text }),
        }
    }

    #[test]
    fn a_caller_knows_what_it_may_run_and_no_more() {
        let mut registry = Registry::default();
        for (name, scopes) in [("a", &[][..]), ("b", &["files:read"]), ("_c", &[])] {
            registry.register(command(name, scopes)).unwrap();
        }
        let need = ScopeNeed::parse(["commands:run:{name}"]).unwrap();
        let listed = |held: &[&str]| -> Vec<String> {
            let held = ScopeSet::parse(held.iter().copied()).unwrap();
            registry.listed(&held, &need).map(|command| command.name.clone()).collect()
        };
        assert_eq!(listed(&["*"]), ["a", "b"]);
        assert_eq!(listed(&["commands:run"]), ["a"]);
        assert_eq!(listed(&["commands:run:b"]), [""; 0]);
        assert_eq!(listed(&["commands:run:b", "files:read"]), ["b"]);
        let runner = ScopeSet::parse(["commands:run"]).unwrap();
        assert!(registry.find("_c", &runner).is_some(), "hidden ones run");
        assert!(registry.find("b", &runner).is_none(), "its own scope is lacking");
        assert!(registry.find("A", &ScopeSet::all()).is_none());
    }

    #[test]
    fn names_are_names_and_occur_once() {
        let mut registry = Registry::default();
        for bad in ["", "a b", "a/b", "é", "{name}", &"x".repeat(129)] {
            assert_eq!(registry.register(command(bad, &[])), Err(RegistryError::Name(bad.to_owned())));
        }
        registry.register(command("a", &[])).unwrap();
        assert_eq!(registry.register(command("a", &[])), Err(RegistryError::Twice("a".to_owned())));
    }
}
