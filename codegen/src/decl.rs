//! The rows of the declaration as written, every field with its place.
//!
//! What fields a row may have stands in [`fields`], once: reading, the JSON Schema and the suggestions all follow it.
//! A field that is absent or of the wrong shape is `None` here and has been reported.

pub(crate) mod fields;
mod rows;
#[cfg(test)]
pub(crate) mod schema;
mod values;

pub(crate) use rows::Row;
pub(crate) use values::Written;

use crate::error::{Faults, Span};
use toml::de::DeTable;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// `[[group]]`
#[derive(Debug)]
pub(crate) struct GroupRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) default: Option<At<String>>,
    pub(crate) summary: String,
}

/// `[[scope]]`
#[derive(Debug)]
pub(crate) struct ScopeRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) summary: String,
}

/// `[[bundle]]`
#[derive(Debug)]
pub(crate) struct BundleRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) scopes: Vec<At<String>>,
    pub(crate) summary: String,
}

/// `[[limit_class]]`
#[derive(Debug)]
pub(crate) struct ClassRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) limits: Vec<(At<String>, At<Written>)>,
}

/// `[[key]]`
#[derive(Debug)]
pub(crate) struct KeyRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) kind: Option<At<String>>,
    pub(crate) law: Option<At<String>>,
    pub(crate) everywhere: bool,
    pub(crate) summary: String,
}

/// `[[key_set]]`
#[derive(Debug)]
pub(crate) struct KeySetRow {
    pub(crate) name: Option<At<String>>,
    pub(crate) keys: Vec<At<String>>,
}

/// One way into an endpoint: the door of its row, or an element of `also`.
#[derive(Debug)]
pub(crate) struct DoorRow {
    pub(crate) span: Span,
    pub(crate) method: Option<At<String>>,
    pub(crate) path: Option<At<String>>,
    pub(crate) body: Option<At<String>>,
    pub(crate) upgrade: Option<At<bool>>,
    pub(crate) errors: Option<At<String>>,
    pub(crate) listener: Option<At<String>>,
}

/// `[[endpoint]]`
#[derive(Debug)]
pub(crate) struct EndpointRow {
    pub(crate) id: Option<At<String>>,
    pub(crate) summary: String,
    pub(crate) group: Option<At<String>>,
    pub(crate) scopes: Vec<At<String>>,
    /// Where the list of scopes stands; `None` where it was absent or no list.
    pub(crate) scopes_at: Option<Span>,
    pub(crate) auth_required: Option<At<bool>>,
    pub(crate) streaming: Option<At<bool>>,
    pub(crate) named: bool,
    pub(crate) limit_class: Option<At<String>>,
    pub(crate) accepts: Vec<At<String>>,
    pub(crate) limits: Vec<(At<String>, At<Written>)>,
    pub(crate) params: Vec<(At<String>, At<Written>)>,
    pub(crate) audit: Option<At<String>>,
    /// The primary door first.
    pub(crate) doors: Vec<DoorRow>,
}

/// Everything that the file says.
#[derive(Debug, Default)]
pub(crate) struct Declaration {
    pub(crate) groups: Vec<GroupRow>,
    pub(crate) scopes: Vec<ScopeRow>,
    pub(crate) bundles: Vec<BundleRow>,
    pub(crate) classes: Vec<ClassRow>,
    pub(crate) keys: Vec<KeyRow>,
    pub(crate) key_sets: Vec<KeySetRow>,
    pub(crate) endpoints: Vec<EndpointRow>,
}

/// Reads the text, as far as it can be read. Text that is no TOML has been reported and is not worth other faults: what
/// was recovered of it may lack any row.
pub(crate) fn read(text: &str, faults: &mut Faults) -> Declaration {
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(text.len()..text.len());
        faults.at(&span, format!("bad TOML: {}", error.message()));
    }
    if !errors.is_empty() {
        faults.close();
    }
    let root = Row::read(root.get_ref(), 0..0, &fields::FILE, faults);
    Declaration {
        groups: root.rows("group").map(group).collect(),
        scopes: root.rows("scope").map(scope).collect(),
        bundles: root.rows("bundle").map(bundle).collect(),
        classes: root.rows("limit_class").map(class).collect(),
        keys: root.rows("key").map(key).collect(),
        key_sets: root.rows("key_set").map(key_set).collect(),
        endpoints: root.rows("endpoint").map(endpoint).collect(),
    }
}

fn group(row: &Row) -> GroupRow {
    GroupRow { name: row.text("name"), default: row.text("default"), summary: row.line("summary") }
}

fn scope(row: &Row) -> ScopeRow {
    ScopeRow { name: row.text("name"), summary: row.line("summary") }
}

fn bundle(row: &Row) -> BundleRow {
    BundleRow { name: row.text("name"), scopes: row.words("scopes"), summary: row.line("summary") }
}

fn class(row: &Row) -> ClassRow {
    ClassRow { name: row.text("name"), limits: row.values("limits") }
}

fn key(row: &Row) -> KeyRow {
    KeyRow {
        name: row.text("name"),
        kind: row.text("kind"),
        law: row.text("law"),
        everywhere: row.flag("everywhere").is_some_and(|flag| flag.value),
        summary: row.line("summary"),
    }
}

fn key_set(row: &Row) -> KeySetRow {
    KeySetRow { name: row.text("name"), keys: row.words("keys") }
}

fn endpoint(row: &Row) -> EndpointRow {
    EndpointRow {
        id: row.text("id"),
        summary: row.line("summary"),
        group: row.text("group"),
        scopes: row.words("scopes"),
        scopes_at: row.place("scopes"),
        auth_required: row.flag("auth_required"),
        streaming: row.flag("streaming"),
        named: row.flag("named").is_none_or(|flag| flag.value),
        limit_class: row.text("limit_class"),
        accepts: row.words("accepts"),
        limits: row.values("limits"),
        params: row.values("params"),
        audit: row.text("audit"),
        doors: std::iter::once(row).chain(row.rows("also")).map(door).collect(),
    }
}

fn door(row: &Row) -> DoorRow {
    DoorRow {
        span: row.span.clone(),
        method: row.text("method"),
        path: row.text("path"),
        body: row.text("body"),
        upgrade: row.flag("upgrade"),
        errors: row.text("errors"),
        listener: row.text("listener"),
    }
}
