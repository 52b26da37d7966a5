//! The checked declaration: names resolved to positions, sizes to bytes, sets of keys to keys.

use super::{Base, Name};

/// Every row that could be resolved, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) groups: Vec<Group>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) bundles: Vec<Bundle>,
    pub(crate) keys: Vec<Key>,
    pub(crate) endpoints: Vec<Endpoint>,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Name,
    /// `on` or `opt-in`
    pub(crate) default: String,
    pub(crate) summary: String,
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) name: Name,
    pub(crate) summary: String,
}

#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) name: String,
    /// Positions of scopes.
    pub(crate) scopes: Vec<usize>,
    pub(crate) summary: String,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: Name,
    /// `None` where it could not be read.
    pub(crate) kind: Option<String>,
    pub(crate) law: String,
    pub(crate) everywhere: bool,
    pub(crate) summary: String,
}

/// A door, with every word as in the file.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) upgrade: bool,
    pub(crate) errors: String,
    pub(crate) listener: String,
}

#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) name: Name,
    pub(crate) summary: String,
    /// Position of its group.
    pub(crate) group: usize,
    /// As declared: a template keeps its parameter.
    pub(crate) scopes: Vec<String>,
    pub(crate) auth_required: bool,
    pub(crate) streaming: bool,
    pub(crate) named: bool,
    pub(crate) limit_class: Option<String>,
    /// The primary door first.
    pub(crate) doors: Vec<Door>,
    /// Positions of keys, ascending.
    pub(crate) accepts: Vec<usize>,
    /// Base values by position of key, ascending.
    pub(crate) base: Vec<(usize, Base)>,
    pub(crate) audit: String,
}
