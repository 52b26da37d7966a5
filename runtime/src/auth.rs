//! Who calls: principals, the tokens that prove them, and the budget of failed logins.

mod budget;
mod credentials;
mod digest;
mod tokens;

pub use budget::FailedLogins;
pub use credentials::{Presented, SOCKET, presented};
pub use digest::Digest;
pub use tokens::{TokenError, Tokens};

use policy_lang::scope::ScopeSet;

/// Someone who may call: what a token stands for, or `anonymous`.
#[derive(Debug, PartialEq, Eq)]
pub struct Principal {
    /// Its id, as in the policy: what refusals, answers and audit lines show.
    pub id: Box<str>,
    /// What it holds.
    pub scopes: ScopeSet,
    /// Its place among the principals of this policy; rates and slots are counted by it.
    pub(crate) index: usize,
}

impl Principal {
    /// Whether it may see what belongs to the principal `owner`: its own, or everything where it holds `*`.
    #[must_use]
    pub fn sees(&self, owner: &str) -> bool {
        *self.id == *owner || self.scopes.is_all()
    }
}
