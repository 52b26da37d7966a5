//! Variables that the server was started with and that no child gets by itself.

use std::collections::BTreeMap;

/// Values by name. Nothing shows them; the process keeps its memory to itself.
#[derive(Default)]
pub struct Withheld(BTreeMap<String, String>);

impl Withheld {
    pub(super) fn new(variables: impl Iterator<Item = (String, String)>) -> Self {
        Self(variables.collect())
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Values that a test made up.
    #[cfg(test)]
    pub(crate) fn for_test<const N: usize>(variables: [(&str, &str); N]) -> Self {
        Self::new(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
    }
}

impl std::fmt::Debug for Withheld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Withheld")
    }
}
