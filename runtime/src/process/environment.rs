//! The variables that children get: built from nothing, from a list of names that may pass, never copied whole.
//!
//! Three sources, later ones winning: the allowed part of the server's own environment, the overlay that callers set
//! for later children, and what one request brings. The server's own environment is never changed.

mod names;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{PoisonError, RwLock};

pub use names::Refused;
pub(super) use names::without_password;
pub(crate) use names::{inheritable, speaks_of_a_secret};

/// The environment of later children. Shared by everything that starts one.
#[derive(Debug)]
pub struct Environment {
    inherited: BTreeMap<String, String>,
    /// Names that no child ever gets and nobody may set: the server's secrets.
    hidden: Vec<String>,
    /// Their values, which must not arrive under another name either.
    secrets: Vec<String>,
    overlay: RwLock<BTreeMap<String, String>>,
}

/// Why a variable was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// Empty, or with `=` or NUL in the name, or NUL in the value.
    #[error("not a variable: `{0}`")]
    Malformed(String),
    /// Longer than the kernel takes as one string.
    #[error("the value of `{0}` is too long")]
    TooLong(String),
    /// A name that nobody may set.
    #[error("the variable `{name}` may not be set: {why}")]
    Refused {
        /// The name as given.
        name: String,
        /// Which kind of name it is.
        why: Refused,
    },
}

/// The longest `NAME=value` that the kernel passes on (32 pages), less one for the NUL.
const LONGEST: usize = 32 * 4096 - 1;

impl Environment {
    /// Takes what may pass from the server's own variables. `hidden` are the names that hold its secrets, whose values
    /// no child gets under any name.
    #[must_use]
    pub fn new(own: impl IntoIterator<Item = (String, String)>, hidden: Vec<String>) -> Self {
        let own: BTreeMap<String, String> = own.into_iter().collect();
        let secrets: Vec<String> = own
            .iter()
            .filter(|(name, _)| names::server_secret(name) || hidden.contains(name))
            .map(|(_, value)| value.clone())
            .filter(|value| value.len() >= 4)
            .collect();
        let inherited = own
            .into_iter()
            .filter(|(name, value)| {
                names::inheritable(name)
                    && !hidden.contains(name)
                    && !secrets.iter().any(|secret| value.contains(secret.as_str()))
            })
            .collect();
        Self { inherited, hidden, secrets, overlay: RwLock::default() }
    }

    /// Sets variables for later children, all of them or none. Returns the names, sorted.
    ///
    /// # Errors
    /// The first variable that is malformed, or that nobody may set.
    pub fn set(&self, variables: &BTreeMap<String, String>) -> Result<Vec<String>, VariableError> {
        for (name, value) in variables {
            self.check(name, value)?;
            if let Some(why) = names::refused_for_everyone(name) {
                return Err(VariableError::Refused { name: name.clone(), why });
            }
        }
        let mut overlay = self.overlay.write().unwrap_or_else(PoisonError::into_inner);
        overlay.extend(variables.iter().map(|(n, v)| (n.clone(), v.clone())));
        Ok(variables.keys().cloned().collect())
    }

    /// Checks one variable that a request brings for its own child.
    ///
    /// # Errors
    /// It is malformed, or nobody may set it.
    pub fn check(&self, name: &str, value: &str) -> Result<(), VariableError> {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(VariableError::Malformed(name.to_owned()));
        }
        if name.len() + 1 + value.len() > LONGEST {
            return Err(VariableError::TooLong(name.to_owned()));
        }
        let hidden = self.hidden.iter().any(|h| h.eq_ignore_ascii_case(name));
        let why = if hidden { Some(Refused::Secret) } else { names::refused(name) };
        why.map_or(Ok(()), |why| Err(VariableError::Refused { name: name.to_owned(), why }))
    }

    /// What a child would get now, before any request adds to it.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, String> {
        let mut all = self.inherited.clone();
        let overlay = self.overlay.read().unwrap_or_else(PoisonError::into_inner);
        all.extend(overlay.iter().map(|(n, v)| (n.clone(), v.clone())));
        all
    }

    /// The same for display: nothing whose name speaks of a secret, and no password inside a URL.
    #[must_use]
    pub fn visible(&self) -> BTreeMap<String, String> {
        let mut all = self.variables();
        all.retain(|name, _| !names::speaks_of_a_secret(name));
        for value in all.values_mut() {
            *value = names::without_password(value);
            for secret in &self.secrets {
                if value.contains(secret.as_str()) {
                    *value = "***".to_owned();
                }
            }
        }
        all
    }

    /// The `NAME=value` strings of one child. `request` has been checked; `denied` names what must not be inherited.
    ///
    /// # Errors
    /// A variable that cannot be passed on.
    pub fn block(
        &self,
        request: &BTreeMap<String, String>,
        denied: impl Fn(&str) -> bool,
    ) -> Result<Vec<CString>, VariableError> {
        let mut all = self.variables();
        all.retain(|name, _| !denied(name));
        for (name, value) in request {
            self.check(name, value)?;
            all.insert(name.clone(), value.clone());
        }
        all.into_iter()
            .map(|(name, value)| {
                CString::new(format!("{name}={value}")).map_err(|_| VariableError::Malformed(name))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
