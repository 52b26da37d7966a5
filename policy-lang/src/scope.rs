//! Sets of scopes: what a principal holds ([`ScopeSet`]), and what an endpoint asks ([`ScopeNeed`]).
//!
//! Names are compared byte for byte: a scope that merely begins like another, or differs in case, is another scope.

use crate::endpoint::{BUNDLES, Scope};
use std::borrow::Cow;

/// What precedes the name of a command in the scope for that one command.
const COMMAND: &str = "commands:run:";

/// What a principal holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeSet {
    all: bool,
    bits: u64,
    /// Names of `commands:run:<name>`, sorted.
    commands: Vec<Box<str>>,
}

impl ScopeSet {
    /// Holds every scope (`*`).
    #[must_use]
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Reads scope and bundle names.
    ///
    /// # Errors
    /// The first name that is neither a scope, a bundle, `*` nor `commands:run:<name>`.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut set = Self::default();
        for name in names {
            set.add(name).ok_or(name)?;
        }
        set.commands.sort_unstable();
        set.commands.dedup();
        Ok(set)
    }

    fn add(&mut self, name: &str) -> Option<()> {
        if name == "*" {
            self.all = true;
        } else if let Some(bundle) = BUNDLES.iter().find(|bundle| bundle.name == name) {
            for scope in bundle.scopes {
                self.bits |= bit(*scope);
            }
        } else if let Some(command) = name.strip_prefix(COMMAND) {
            if !is_command_name(command) {
                return None;
            }
            self.commands.push(command.into());
        } else {
            self.bits |= bit(Scope::from_name(name)?);
        }
        Some(())
    }

    /// Whether it holds everything.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Whether it holds `scope`. `core:read` is held by everyone.
    #[must_use]
    pub fn holds(&self, scope: Scope) -> bool {
        self.all || (self.bits | bit(Scope::CoreRead)) & bit(scope) != 0
    }

    /// Whether it may run the registered command `name`.
    #[must_use]
    pub fn holds_command(&self, name: &str) -> bool {
        self.holds(Scope::CommandsRun) || self.commands.binary_search_by(|held| (**held).cmp(name)).is_ok()
    }

    /// The names that say the same, sorted as declared: for `identity.scopes` in answers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        if self.all {
            return vec!["*".to_owned()];
        }
        let fixed = Scope::ALL.into_iter().filter(|scope| self.bits & bit(*scope) != 0);
        let named = self.commands.iter().map(|name| format!("{COMMAND}{name}"));
        fixed.map(|scope| scope.as_str().to_owned()).chain(named).collect()
    }
}

/// What an endpoint asks of a caller: all of it must be held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeNeed {
    /// Everything the caller must hold by name; `*` among them asks for all.
    held: ScopeSet,
    /// Whether the scope of the command named by the call is needed as well (`commands:run:{name}`).
    the_command: bool,
}

impl ScopeNeed {
    /// Reads the names of an endpoint's `scopes`; `commands:run:{name}` stands for the command that the call names.
    ///
    /// # Errors
    /// The first name that is no scope.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut the_command = false;
        let fixed = names.into_iter().filter(|name| {
            let template = *name == Scope::CommandsRunName.as_str();
            the_command |= template;
            !template
        });
        let held = ScopeSet::parse(fixed)?;
        Ok(Self { held, the_command })
    }

    /// The first scope that `holder` lacks, or none. `command` is the command that the call names; where a call names
    /// none although the endpoint asks for its scope, `commands:run` as a whole is asked.
    #[must_use]
    pub fn missing<'a>(&'a self, holder: &ScopeSet, command: Option<&'a str>) -> Option<Cow<'a, str>> {
        if holder.all {
            return None;
        }
        if self.held.all {
            return Some("*".into());
        }
        let lacking = self.held.bits & !(holder.bits | bit(Scope::CoreRead));
        if lacking != 0 {
            let scope = Scope::ALL.into_iter().find(|scope| lacking & bit(*scope) != 0);
            return scope.map(|scope| scope.as_str().into());
        }
        if let Some(name) = self.held.commands.iter().find(|name| !holder.holds_command(name)) {
            return Some(format!("{COMMAND}{name}").into());
        }
        match command {
            _ if !self.the_command => None,
            Some(name) => (!holder.holds_command(name)).then(|| format!("{COMMAND}{name}").into()),
            None => (!holder.holds(Scope::CommandsRun)).then(|| Scope::CommandsRun.as_str().into()),
        }
    }

    /// The names that it asks for.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = self.held.names();
        if self.the_command {
            names.push(Scope::CommandsRunName.as_str().to_owned());
        }
        names
    }
}

const fn bit(scope: Scope) -> u64 {
    1 << scope.index()
}

/// A command's name within a scope: what a route can carry and nothing that looks like a pattern.
fn is_command_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> ScopeSet {
        ScopeSet::parse(names.iter().copied()).unwrap()
    }

    fn need(names: &[&str]) -> ScopeNeed {
        ScopeNeed::parse(names.iter().copied()).unwrap()
    }

    #[test]
    fn a_command_scope_holds_that_command_alone() {
        let need = need(&["commands:run:{name}"]);
        let holder = set(&["commands:run:hello"]);
        assert_eq!(need.missing(&holder, Some("hello")), None);
        for other in ["hello2", "HELLO", "hello\0", "hell", "hello ", "", "{name}"] {
            let wanted = format!("commands:run:{other}");
            assert_eq!(need.missing(&holder, Some(other)).as_deref(), Some(&*wanted));
        }
        assert_eq!(need.missing(&holder, None).as_deref(), Some("commands:run"));
        for wide in ["commands:run", "*"] {
            assert_eq!(need.missing(&set(&[wide]), Some("hello2")), None);
            assert_eq!(need.missing(&set(&[wide]), None), None);
        }
    }

    #[test]
    fn everything_asked_must_be_held() {
        let need = need(&["files:write", "files:delete"]);
        assert_eq!(need.missing(&set(&["files:write"]), None).as_deref(), Some("files:delete"));
        assert_eq!(need.missing(&set(&["files:delete"]), None).as_deref(), Some("files:write"));
        assert_eq!(need.missing(&set(&["files:delete", "files:write"]), None), None);
    }

    #[test]
    fn a_bundle_holds_what_it_stands_for() {
        let holder = set(&["sandboxes:exec"]);
        assert_eq!(holder.names(), ["files:read", "files:write", "process:run", "terminal:use"]);
        assert_eq!(need(&["sandboxes:exec"]).missing(&holder, None), None);
        assert_eq!(need(&["files:delete"]).missing(&holder, None).as_deref(), Some("files:delete"));
    }

    #[test]
    fn core_is_held_by_everyone_and_the_star_only_by_the_star() {
        assert_eq!(need(&["core:read"]).missing(&set(&[]), None), None);
        let every: Vec<_> = Scope::ALL.into_iter().filter(|scope| *scope != Scope::CommandsRunName).collect();
        let every = set(&every.iter().map(|scope| scope.as_str()).collect::<Vec<_>>());
        assert_eq!(need(&["*"]).missing(&every, None).as_deref(), Some("*"));
        assert_eq!(need(&["*"]).missing(&ScopeSet::all(), None), None);
    }

    #[test]
    fn unknown_names_are_given_back() {
        for name in
            ["files:*", "filez:read", "FILES:READ", "commands:run:", "commands:run:*", "commands:run:a b", ""]
        {
            assert_eq!(ScopeSet::parse(["core:read", name]), Err(name));
        }
        assert_eq!(ScopeSet::parse(["commands:run:{name}"]), Err("commands:run:{name}"));
    }
}
