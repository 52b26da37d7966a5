//! The declared world: endpoints, groups, scopes and rule keys, as `endpoints.toml` declares them.
//!
//! The row types are written here; the rows themselves and the enums [`EndpointId`], [`Group`], [`Scope`] and [`Key`]
//! come from `codegen::endpoints!`. Their readable form stands in `tests/endpoints/endpoints.txt`.

pub mod catalogue;
pub mod id_glob;

pub use catalogue::{Catalogue, CustomRoute};
pub use id_glob::IdGlob;

codegen::endpoints!("../endpoints.toml");

/// An HTTP method that a door may have. Every other method is answered 501.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET
    Get,
    /// HEAD, only where a door declares it
    Head,
    /// POST
    Post,
    /// DELETE
    Delete,
}

impl Method {
    /// As it stands in a request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }

    /// The one that a request line spells so.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Get, Self::Head, Self::Post, Self::Delete].into_iter().find(|method| method.as_str() == name)
    }
}

/// What a door takes as its request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// No body; one is refused with `body_not_allowed`.
    None,
    /// One JSON document.
    Json,
    /// Bytes, streamed.
    Raw,
    /// `multipart/form-data`, streamed.
    Multipart,
}

/// How a door shows an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorStyle {
    /// `{"error", "type", "code", …}`
    Plain,
    /// The same plus `detail: {"error", "message", "error_id"}`, as data-plane clients read it.
    Detail,
}

/// Which listener serves a door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listener {
    /// The main HTTP port.
    Http,
    /// The PTY WebSocket port.
    Pty,
}

/// Whether the members of a group answer when no rule speaks of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefaultState {
    /// Open.
    On,
    /// Closed until a rule opens it.
    OptIn,
}

/// What is written to the audit log for an endpoint. Refusals are written whatever it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuditLevel {
    /// Nothing that was allowed and nothing else.
    Off,
    /// Refusals.
    Deny,
    /// Every decision.
    All,
}

/// One way into an endpoint: all doors of an endpoint share its id, its rule and its audit name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Door {
    /// Method.
    pub method: Method,
    /// Path template, `{name}` marking a parameter.
    pub path: &'static str,
    /// Request body.
    pub body: BodyKind,
    /// Whether the door upgrades to a WebSocket.
    pub upgrade: bool,
    /// How errors are shown.
    pub errors: ErrorStyle,
    /// Which listener serves it.
    pub listener: Listener,
}

/// A base value of the catalogue: what holds when no rule sets the key. Sizes are bytes, durations seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseValue {
    /// `true` or `false`.
    Bool(bool),
    /// A size, a count or a duration.
    Number(u64),
    /// Words, such as languages.
    Words(&'static [&'static str]),
    /// Numbers, such as signals.
    Numbers(&'static [u64]),
}

/// One row of `endpoints.toml`.
#[derive(Debug)]
pub struct EndpointDecl {
    /// The id as a type.
    pub id: EndpointId,
    /// The id as written in a policy: `files_list`.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// Its group.
    pub group: Group,
    /// Scopes that a caller needs, as declared; `{name}` stands for a path parameter.
    pub scopes: &'static [&'static str],
    /// False only where no token is asked.
    pub auth_required: bool,
    /// Whether the answer is a stream of events.
    pub streaming: bool,
    /// Whether the source document names it.
    pub named: bool,
    /// The limit class it takes base limits from.
    pub limit_class: Option<&'static str>,
    /// Its doors; the first is the primary one.
    pub doors: &'static [Door],
    /// Every rule key it accepts, those that all accept included.
    pub accepts: KeySet,
    /// Base values, by key in the order of [`Key`]; those of its limit class included.
    pub base: &'static [(Key, BaseValue)],
    /// Base audit level.
    pub audit: AuditLevel,
}

/// One row of the group table.
#[derive(Debug)]
pub struct GroupDecl {
    /// The group.
    pub group: Group,
    /// Its name.
    pub name: &'static str,
    /// Whether it is open without a rule.
    pub default: DefaultState,
    /// One line.
    pub summary: &'static str,
    /// Its endpoints, in declaration order.
    pub members: &'static [EndpointId],
}

/// One row of the scope table. A parameterised scope (`commands:run:{name}`) is listed with its template.
#[derive(Debug)]
pub struct ScopeDecl {
    /// The scope.
    pub scope: Scope,
    /// Its name or template.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
}

/// One name for several scopes.
#[derive(Debug)]
pub struct BundleDecl {
    /// The name that a token may list.
    pub name: &'static str,
    /// What it stands for.
    pub scopes: &'static [Scope],
    /// One line.
    pub summary: &'static str,
}

/// How the value of a rule key is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// `true` or `false`
    Bool,
    /// A list of scopes
    Scopes,
    /// `off`, `deny` or `all`
    Audit,
    /// A list of paths and path globs
    Paths,
    /// `true`, or a list of paths and path globs
    PathsOrTrue,
    /// `within` or `deny`
    Symlinks,
    /// Bytes: an integer, or text with a unit
    Size,
    /// A positive integer
    Count,
    /// Seconds: a number, or text with a unit
    Duration,
    /// A list of file extensions
    Extensions,
    /// A list of program names and absolute paths
    Commands,
    /// A list of languages
    Languages,
    /// A list of signal numbers and names
    Signals,
    /// A list of URL patterns
    Urls,
    /// A list of shells
    Shells,
    /// A list of variable names and globs
    Variables,
    /// A list of ports
    Ports,
}

/// How the values of a key from several rules become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MergeLaw {
    /// The rule of the greatest precedence says the value.
    Replace,
    /// The union over every rule that matches; a deny is never dropped.
    Accumulate,
}

/// One row of the key table.
#[derive(Debug)]
pub struct KeyDecl {
    /// The key.
    pub key: Key,
    /// Its dotted name: `limits.max_bytes`.
    pub name: &'static str,
    /// How its value is read.
    pub kind: KeyKind,
    /// How values merge.
    pub law: MergeLaw,
    /// One line.
    pub summary: &'static str,
}

/// A set of rule keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeySet(u64);

impl KeySet {
    /// The set of `keys`.
    #[must_use]
    pub const fn of(keys: &[Key]) -> Self {
        let mut bits = 0;
        let mut rest = keys;
        while let [first, others @ ..] = rest {
            bits |= 1 << (*first as u64);
            rest = others;
        }
        Self(bits)
    }

    /// Whether `key` is in the set.
    #[must_use]
    pub const fn contains(self, key: Key) -> bool {
        self.0 & (1 << (key as u64)) != 0
    }

    /// The keys of the set, in the order of [`Key`].
    pub fn iter(self) -> impl Iterator<Item = Key> {
        Key::ALL.into_iter().filter(move |key| self.contains(*key))
    }
}
