//! What merging yields: for every (endpoint, key) the rule that says the value and every rule it beat.
//!
//! This is also the body of the compiled form: plain data, no spans, every place already counted out, so that a running
//! server names `template.yaml:14:7` without the source at hand. Base values of the catalogue are not stored; they are
//! what holds where a key has no statement.

mod entries;
mod list;
mod places;
pub mod revision;
mod text;

pub(crate) use entries::{Entries, Part, SEPARATOR, count, each_separator, start};
pub(crate) use list::ListBuilder;
pub use list::{Element, List};
pub(crate) use places::{Run, Step};
pub(crate) use text::Text;

use crate::endpoint::{CustomRoute, Key};
use crate::layer::{LayerKind, Rank, Specificity};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Index of an endpoint: the catalogue's first, in declaration order, then custom routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EndpointIx(pub u16);

/// Index into [`Resolved::rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleIx(pub u32);

impl RuleIx {
    /// `default:base`: says every base value of the catalogue.
    pub const BASE: Self = Self(0);
    /// `default:on`: opens what no rule speaks of.
    pub const ON: Self = Self(1);
    /// `default:core`: keeps the core group open.
    pub const CORE: Self = Self(2);
}

/// Index into [`Resolved::statements`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StatementIx(pub u32);

/// A place in one of [`Resolved::files`]; lines and columns from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FilePlace {
    /// Index into [`Resolved::files`].
    pub file: u32,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column of the end, exclusive.
    pub end_column: u32,
    /// First byte.
    pub byte_start: u32,
    /// One past the last byte.
    pub byte_end: u32,
}

/// An input that took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Its name without directories.
    pub name: String,
    /// Which layer it became.
    pub layer: LayerKind,
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
}

impl FileInfo {
    /// SHA-256 of a text, as [`FileInfo::sha256`] holds it.
    #[must_use]
    pub fn digest(text: &str) -> String {
        hex(&Sha256::digest(text.as_bytes()))
    }
}

/// A rule: a selector of one layer. Prints as its [`Rule::name`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// `policy:endpoints.shell`, `preset:read-only`, `default:opt-in:browser`, …
    pub name: String,
    /// Its layer.
    pub layer: LayerKind,
    /// Its selector as written: `shell`, `files_*`, `group:process`, `@defaults`.
    pub selector: String,
    /// How exact the selector is.
    pub specificity: Specificity,
    /// Where the selector was written.
    pub at: Option<FilePlace>,
}

/// A value as a rule says it. Sizes are bytes, durations seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedValue {
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A word of a closed set.
    Word(String),
    /// A list.
    List(List),
}

/// One key of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedStatement {
    /// The key.
    pub key: Key,
    /// What it says.
    pub value: ResolvedValue,
    /// Which rule says it.
    pub rule: RuleIx,
    /// Where.
    pub at: Option<FilePlace>,
}

/// The statements that speak of one key of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedKey {
    /// The key.
    pub key: Key,
    /// A replacing key: the winner, then what it beat, highest precedence first.
    /// An accumulating key: every contributor, highest precedence first.
    pub statements: Vec<StatementIx>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedToken {
    /// Who its holder is.
    pub id: String,
    /// Scopes and bundles as written.
    pub scopes: Vec<String>,
    /// The variable that holds the secret, or else
    pub token_env: Option<String>,
    /// the SHA-256 of the secret, lower-case hex.
    pub token_sha256: Option<String>,
    /// Where it was declared.
    pub at: Option<FilePlace>,
}

/// The merged policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The preset that took part.
    pub preset: Option<String>,
    /// The document's `base_dir` and where it was said. The process may override it.
    pub base_dir: Option<(String, Option<FilePlace>)>,
    /// Every input.
    pub files: Vec<FileInfo>,
    /// The three built-in rules of [`RuleIx`], then every rule of a layer, in layer order, then written order.
    pub rules: Vec<Rule>,
    /// Every statement, in rule order.
    pub statements: Vec<ResolvedStatement>,
    /// By [`EndpointIx`]; each sorted by key; keys without a statement are absent.
    pub endpoints: Vec<Vec<ResolvedKey>>,
    /// Custom routes, after the catalogue's endpoints.
    pub custom: Vec<CustomRoute>,
    /// Digest of the content, environment left out; see [`revision`]. Empty until a policy is merged.
    pub revision: String,
    /// `auth.tokens`; `None` where the document has none, which differs from an empty list.
    pub tokens: Option<Vec<ResolvedToken>>,
}

impl Default for Resolved {
    /// What holds where nobody said anything: the built-in rules and no statement.
    fn default() -> Self {
        let built_in = |word: &str| Rule {
            name: format!("default:{word}"),
            layer: LayerKind::Default,
            selector: String::new(),
            specificity: Specificity::Defaults,
            at: None,
        };
        Self {
            preset: None,
            base_dir: None,
            files: Vec::new(),
            rules: vec![built_in("base"), built_in("on"), built_in("core")],
            statements: Vec::new(),
            endpoints: Vec::new(),
            custom: Vec::new(),
            revision: String::new(),
            tokens: None,
        }
    }
}

impl Rule {
    /// Its precedence.
    #[must_use]
    pub const fn rank(&self) -> Rank {
        Rank { specificity: self.specificity, layer: self.layer }
    }
}

impl Resolved {
    /// How many rules are built in: they stand before all others.
    pub const BUILT_IN: usize = 3;

    /// The rule of that index.
    #[must_use]
    pub fn rule(&self, ix: RuleIx) -> Option<&Rule> {
        self.rules.get(ix.0 as usize)
    }

    /// The statement of that index.
    #[must_use]
    pub fn statement(&self, ix: StatementIx) -> Option<&ResolvedStatement> {
        self.statements.get(ix.0 as usize)
    }

    /// What rules say of one key of one endpoint, highest precedence first; empty where only the base value holds.
    #[must_use]
    pub fn candidates(&self, endpoint: EndpointIx, key: Key) -> &[StatementIx] {
        let Some(keys) = self.endpoints.get(usize::from(endpoint.0)) else { return &[] };
        let found = keys.binary_search_by_key(&key, |resolved| resolved.key).ok().and_then(|at| keys.get(at));
        found.map_or(&[], |resolved| &resolved.statements)
    }

    /// The statement that says the value of a replacing key.
    #[must_use]
    pub fn winner(&self, endpoint: EndpointIx, key: Key) -> Option<&ResolvedStatement> {
        self.candidates(endpoint, key).first().and_then(|ix| self.statement(*ix))
    }
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
