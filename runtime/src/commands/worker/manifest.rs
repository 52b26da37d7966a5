//! What a template declares, as its worker tells it.

use crate::commands::arguments::{self, Argument, ArgumentKind};
use crate::commands::{Action, Command, Limits, Registry, RegistryError};
use policy_lang::endpoint::Group;
use policy_lang::layers::code::GroupSwitch;
use policy_lang::scope::ScopeNeed;
use serde::Deserialize;
use serde_json::Value;

/// Everything that a template declares.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Manifest {
    commands: Vec<CommandEntry>,
    /// Its routes, in the order of their registration.
    pub routes: Vec<RouteEntry>,
    switches: Vec<Switch>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CommandEntry {
    name: String,
    description: String,
    args: Vec<ArgumentEntry>,
    hidden: bool,
    scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ArgumentEntry {
    name: String,
    r#type: String,
    required: bool,
    default: Value,
    description: String,
}

/// A route of a template.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RouteEntry {
    /// Its method.
    pub method: String,
    /// Its path, with `{name}` for a parameter.
    pub path: String,
    /// The group that it belongs to.
    pub group: String,
    /// Whether a token is asked.
    pub auth_required: bool,
    /// Whether it answers with events.
    pub streaming: bool,
    /// Its name within `custom:<name>`.
    pub name: String,
    /// What a caller needs; none where the template says nothing.
    pub scopes: Option<Vec<String>>,
    /// One line that says what it does.
    pub summary: String,
}

/// A call of `enable_group` or `disable_group`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Switch {
    group: String,
    enabled: bool,
}

/// Why a template's declarations are not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// A command cannot be registered.
    #[error(transparent)]
    Command(#[from] RegistryError),
    /// An argument's name is no name, or its type no type.
    #[error("the command `{command}` has an argument that cannot be: `{argument}`")]
    Argument {
        /// The command.
        command: String,
        /// The argument.
        argument: String,
    },
    /// A scope that does not exist.
    #[error("unknown scope `{scope}` of `{of}`")]
    Scope {
        /// The scope.
        scope: String,
        /// What asks for it.
        of: String,
    },
    /// A group that does not exist.
    #[error("unknown group `{0}`")]
    Group(String),
}

impl Manifest {
    /// Registers the commands.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn register(&self, registry: &mut Registry) -> Result<(), ManifestError> {
        self.commands.iter().try_for_each(|entry| Ok(registry.register(entry.command()?)?))
    }

    /// The switches, in the order of the calls.
    ///
    /// # Errors
    /// A group that does not exist.
    pub fn switches(&self) -> Result<Vec<GroupSwitch>, ManifestError> {
        let switch = |switch: &Switch| {
            let group = Group::from_name(&switch.group);
            let group = group.ok_or_else(|| ManifestError::Group(switch.group.clone()))?;
            Ok(GroupSwitch { group, enabled: switch.enabled })
        };
        self.switches.iter().map(switch).collect()
    }
}

impl CommandEntry {
    fn command(&self) -> Result<Command, ManifestError> {
        let scopes = ScopeNeed::parse(self.scopes.iter().map(String::as_str))
            .map_err(|scope| ManifestError::Scope { scope: scope.to_owned(), of: self.name.clone() })?;
        let arguments = self.args.iter().map(|entry| {
            let wrong =
                || ManifestError::Argument { command: self.name.clone(), argument: entry.name.clone() };
            let kind = ArgumentKind::from_name(&entry.r#type).ok_or_else(wrong)?;
            if !arguments::is_name(&entry.name) {
                return Err(wrong());
            }
            Ok(Argument {
                name: entry.name.clone(),
                kind,
                required: entry.required,
                default: Some(entry.default.clone()).filter(|default| !default.is_null()),
                description: entry.description.clone(),
            })
        });
        Ok(Command {
            name: self.name.clone(),
            description: self.description.clone(),
            arguments: arguments.collect::<Result<_, _>>()?,
            scopes,
            hidden: self.hidden,
            limits: Limits::default(),
            action: Action::Worker,
        })
    }
}
