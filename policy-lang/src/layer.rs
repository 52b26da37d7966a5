//! The five layers, what a rule is, and the order in which rules win.
//!
//! A document, a preset, the code switches and the environment each become one [`Layer`]: a list of [`Block`]s, each a
//! selector with what it says. Everything after this point treats the five alike.

mod members;

use crate::endpoint::{EndpointId, Group, Key};
use crate::source::{SourceId, Span, Spanned};

/// The five layers, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerKind {
    /// The opt-in groups are closed; nothing else.
    Default,
    /// `enable_group` and `disable_group`.
    Code,
    /// The preset.
    Preset,
    /// The author's document.
    Policy,
    /// `ABX_SERVER_ENABLED_GROUPS`.
    Environment,
}

impl LayerKind {
    /// All, lowest first.
    pub const ALL: [Self; 5] = [Self::Default, Self::Code, Self::Preset, Self::Policy, Self::Environment];

    /// The word that rule names begin with.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Code => "code",
            Self::Preset => "preset",
            Self::Policy => "policy",
            Self::Environment => "environment",
        }
    }

    /// The layer of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// How exactly a selector names an endpoint, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Specificity {
    /// `defaults:` and `@defaults`
    Defaults,
    /// `groups:` and `group:NAME`
    Group,
    /// A glob over ids
    Glob,
    /// An exact id
    Exact,
}

impl Specificity {
    /// All, least first.
    pub const ALL: [Self; 4] = [Self::Defaults, Self::Group, Self::Glob, Self::Exact];

    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Group => "group",
            Self::Glob => "glob",
            Self::Exact => "exact",
        }
    }

    /// The one of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The precedence of a rule: the greater wins. Specificity is compared first, then the layer.
///
/// | a | b | wins | why |
/// |---|---|---|---|
/// | policy `files_*` | preset `files_stat` | b | an exact id is more specific than a glob |
/// | policy `group:process` | preset `"*"` | b | a glob is more specific than a group |
/// | preset `shell` | policy `shell` | b | equally specific, the later layer |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank {
    /// How exact.
    pub specificity: Specificity,
    /// Which layer.
    pub layer: LayerKind,
}

/// What a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `defaults:` or `@defaults`: every endpoint.
    Defaults,
    /// A group.
    Group(Group),
    /// A glob over ids, as written.
    Glob(String),
    /// One declared endpoint.
    Exact(EndpointId),
    /// One route that a template registers, by its id.
    Custom(String),
}

impl Selector {
    /// How exactly it names an endpoint.
    #[must_use]
    pub const fn specificity(&self) -> Specificity {
        match self {
            Self::Defaults => Specificity::Defaults,
            Self::Group(_) => Specificity::Group,
            Self::Glob(_) => Specificity::Glob,
            Self::Exact(_) | Self::Custom(_) => Specificity::Exact,
        }
    }
}

impl std::fmt::Display for Selector {
    /// As it stands under `endpoints:`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Defaults => f.write_str("@defaults"),
            Self::Group(group) => write!(f, "group:{}", group.as_str()),
            Self::Glob(name) | Self::Custom(name) => f.write_str(name),
            Self::Exact(id) => f.write_str(id.as_str()),
        }
    }
}

/// A value that a rule says for one key, already read and checked by the key's kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `enabled`, `overwrite`, `block_private_networks`, and `read_only: true`.
    Bool(bool),
    /// Bytes, seconds or a count.
    Number(u64),
    /// One of a closed set of words: audit levels, symlink modes.
    Word(String),
    /// A list; each element with its place. Numbers (signals, ports) are kept as canonical decimal text.
    List(Vec<Spanned<String>>),
}

/// One key of a rule.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The key.
    pub key: Key,
    /// What it says.
    pub value: Value,
    /// Where the key was written.
    pub key_span: Option<Span>,
    /// Where the value was written.
    pub value_span: Option<Span>,
    /// The alias or merge key it came through.
    pub via: Option<Span>,
}

/// A selector and what it says: one rule of a layer.
///
/// Two blocks of a layer may speak of the same thing: `groups.process` and `endpoints."group:process"`, `defaults` and
/// `endpoints."@defaults"`. They are equally specific, so they merge as two globs do: one `enabled: false` closes, and two
/// different values of any other replacing key are the error that names both places.
#[derive(Debug, Clone)]
pub struct Block {
    /// What it speaks of.
    pub selector: Selector,
    /// Its printed name without the layer: `endpoints.shell`, `groups.process`, `defaults`, `enable_group:file_ops`,
    /// `opt-in:browser`, `ABX_SERVER_ENABLED_GROUPS:agents`.
    pub name: String,
    /// Where the selector was written.
    pub span: Option<Span>,
    /// What it says, in written order.
    pub statements: Vec<Statement>,
}

/// A token as declared under `auth.tokens`.
#[derive(Debug, Clone)]
pub struct Token {
    /// Who a caller with this token is.
    pub id: Spanned<String>,
    /// Scopes and bundles, as written.
    pub scopes: Vec<Spanned<String>>,
    /// Where the secret is.
    pub secret: TokenSecret,
    /// The whole entry.
    pub span: Span,
}

/// Where the secret of a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSecret {
    /// In the environment variable of this name.
    Env(Spanned<String>),
    /// Only its SHA-256 is known, 64 lower-case hex digits.
    Sha256(Spanned<String>),
}

/// One layer, whatever it was made from.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Which.
    pub kind: LayerKind,
    /// The text it was read from; none where it was not read from a text.
    pub source: Option<SourceId>,
    /// Whether that text holds no document: it is a template without `server`, say.
    pub is_absent: bool,
    /// Its rules in written order.
    pub blocks: Vec<Block>,
    /// `preset:`, in a document.
    pub preset: Option<Spanned<String>>,
    /// `base_dir:`, in a document.
    pub base_dir: Option<Spanned<String>>,
    /// `auth.tokens:`; present and empty differs from absent.
    pub tokens: Option<Vec<Token>>,
}

impl Layer {
    /// A layer that says nothing.
    #[must_use]
    pub const fn empty(kind: LayerKind) -> Self {
        Self {
            kind,
            source: None,
            is_absent: false,
            blocks: Vec::new(),
            preset: None,
            base_dir: None,
            tokens: None,
        }
    }
}
