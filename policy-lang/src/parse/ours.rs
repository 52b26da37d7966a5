//! Which top-level entries of a file are read closely. Those of a template that are not ours may hold whatever YAML can
//! say: octal modes, keys that are numbers, tags of other programs.

use crate::lower;
use crate::testing::IN_TEMPLATE;

/// What of a file is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ours {
    /// Everything.
    All,
    /// What stands under `server` and `server_tests`.
    Wrapped,
    /// What stands under a key that is nearly `server`: there is no other.
    Nearly,
}

impl Ours {
    /// By the keys at the top. A template without `server` is told from a bare document only where `policy` says that it
    /// is one of the two.
    pub(super) fn of<'k>(keys: impl Iterator<Item = &'k str> + Clone, policy: bool, flow: bool) -> Self {
        if keys.clone().any(is_wrapper) {
            return Self::Wrapped;
        }
        // What a merge key brings is not known yet.
        let merges = keys.clone().any(|key| key == "<<");
        if policy && !merges && !flow && !lower::is_bare(keys) { Self::Nearly } else { Self::All }
    }

    /// Whether the value of a top-level key is to be judged.
    pub(super) fn holds(self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::Wrapped => is_wrapper(key),
            Self::Nearly => lower::is_nearly_wrapper(key),
        }
    }
}

fn is_wrapper(key: &str) -> bool {
    key == lower::WRAPPER || key == IN_TEMPLATE
}
