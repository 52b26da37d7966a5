//! Sets of scopes: what a principal holds, and what an endpoint asks.

use crate::endpoint::{BUNDLES, Scope};

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

    /// Reads scope and bundle names; the first unknown one is given back.
    ///
    /// # Errors
    /// The name that is neither a scope, a bundle, `*` nor `commands:run:<name>`.
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
                self.bits |= 1 << scope.index();
            }
        } else if let Some(command) = name.strip_prefix("commands:run:") {
            if command.is_empty() || command.contains(['{', '}', '*']) {
                return None;
            }
            self.commands.push(command.into());
        } else {
            self.bits |= 1 << Scope::from_name(name)?.index();
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
        self.all || scope == Scope::CoreRead || self.bits & (1 << scope.index()) != 0
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
        let fixed = Scope::ALL.into_iter().filter(|scope| self.bits & (1 << scope.index()) != 0);
        let named = self.commands.iter().map(|name| format!("commands:run:{name}"));
        fixed.map(|scope| scope.as_str().to_owned()).chain(named).collect()
    }
}
