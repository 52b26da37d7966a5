//! The path rules of one endpoint: what `paths.allow`, `paths.deny`, `paths.read_only` and `paths.symlinks` come to.

use super::origins::Origins;
use super::pattern::{PatternError, Side};
use super::set::{Fault, Known, Patterns, Source};
use super::{direct, fold, normal};
use crate::decide::Op;
use crate::form::FormError;
use crate::policy::{ElementRef, Listed, Ruled};
use crate::resolved::{List, RuleIx};
use std::sync::Arc;

/// Directories that no rule can open: what lies there is the machine, not files.
pub const NEVER: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What becomes of symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symlinks {
    /// Followed while the target stays allowed.
    Within,
    /// Refused.
    Deny,
}

impl Symlinks {
    /// The one of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "within" => Some(Self::Within),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }

    /// As written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Deny => "deny",
        }
    }
}

/// What the rules say of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathVerdict {
    /// It may be touched so.
    Allowed,
    /// Nothing allows it; the rule that says what is allowed.
    NotAllowed(ElementRef),
    /// This element denies it.
    Denied(ElementRef),
    /// It may be read but not changed; this element says so.
    ReadOnly(ElementRef),
}

impl PathVerdict {
    /// Whether the path may be touched.
    #[must_use]
    pub const fn is_allowed(self) -> bool {
        matches!(self, Self::Allowed)
    }

    /// The error code of the refusal; none where the path is allowed.
    #[must_use]
    pub const fn code(self) -> Option<&'static str> {
        match self {
            Self::Allowed => None,
            Self::NotAllowed(_) => Some("path_not_allowed"),
            Self::Denied(_) => Some("path_denied"),
            Self::ReadOnly(_) => Some("read_only"),
        }
    }

    /// What decided the refusal; none where the path is allowed.
    #[must_use]
    pub const fn element(self) -> Option<ElementRef> {
        match self {
            Self::Allowed => None,
            Self::NotAllowed(element) | Self::Denied(element) | Self::ReadOnly(element) => Some(element),
        }
    }
}

/// Compiled path rules.
#[derive(Debug, Clone)]
pub struct PathRules {
    base_dir: Arc<str>,
    allow: Patterns<false>,
    allow_rule: ElementRef,
    deny: Patterns<true>,
    read_only: ReadOnly,
    symlinks: Ruled<Symlinks>,
    origins: SetOrigins,
}

#[derive(Debug, Clone)]
enum ReadOnly {
    Nothing,
    Everything(ElementRef),
    Some(Patterns<true>),
}

#[derive(Debug, Clone, Default)]
struct SetOrigins {
    allow: Origins,
    deny: Origins,
    read_only: Origins,
}

/// What the rules of one endpoint say, before they are compiled.
#[derive(Debug, Clone)]
pub struct PathSource<'a> {
    /// Absolute and normal.
    pub base_dir: &'a str,
    /// The entries of `allow`; `None` allows `base_dir`.
    pub allow: Option<Listed<'a>>,
    /// The rule that says what is allowed.
    pub allow_rule: ElementRef,
    /// The entries of every `deny`, highest precedence first.
    pub deny: Vec<Listed<'a>>,
    /// `read_only: true`, or its entries.
    pub read_only: ReadOnlySource<'a>,
    /// What becomes of links.
    pub symlinks: Ruled<Symlinks>,
}

/// The value of `read_only`.
#[derive(Debug, Clone)]
pub enum ReadOnlySource<'a> {
    /// Absent, or `false`.
    Nothing,
    /// `true`
    Everything(ElementRef),
    /// A list.
    Some(Listed<'a>),
}

/// Why path rules could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum PathRulesError {
    /// An entry that no checked policy holds.
    #[error("the entry `{entry}` {error}")]
    Entry {
        /// As written.
        entry: String,
        /// Where it came from.
        element: ElementRef,
        /// What is wrong.
        error: PatternError,
    },
    /// An entry that no checked policy holds, in a list that was left unread.
    #[error("{why}")]
    Refused {
        /// Where it came from.
        element: ElementRef,
        /// What the check says of it.
        why: String,
    },
    /// A list whose text could not be read.
    #[error("{0}")]
    Unread(FormError),
    /// The globs of a list need an automaton larger than a server should hold.
    #[error("the globs of one list are too many and too large")]
    TooLarge,
}

impl PathRules {
    /// Compiles the rules. Lists that were left unread stay so until [`Self::prepare`].
    ///
    /// # Errors
    /// An entry that is no pattern, and globs too large for an automaton.
    pub fn build(source: &PathSource<'_>) -> Result<Self, PathRulesError> {
        let base_dir = &Arc::from(source.base_dir);
        let (allow, allow_origins) = match source.allow {
            Some(listed) => compile(&[listed], Side::Allow, base_dir)?,
            None => {
                // Said by no element.
                let base = List::of([source.base_dir]);
                let (allow, _) =
                    compile(&[Listed { list: &base, origin: source.allow_rule }], Side::Allow, base_dir)?;
                (allow, Origins::default())
            }
        };
        let (deny, deny_origins) = compile(&source.deny, Side::Deny, base_dir)?;
        let (read_only, read_only_origins) = match source.read_only {
            ReadOnlySource::Nothing => (ReadOnly::Nothing, Origins::default()),
            ReadOnlySource::Everything(element) => (ReadOnly::Everything(element), Origins::default()),
            ReadOnlySource::Some(listed) => {
                let (set, origins) = compile(&[listed], Side::ReadOnly, base_dir)?;
                (ReadOnly::Some(set), origins)
            }
        };
        Ok(Self {
            base_dir: Arc::clone(base_dir),
            allow,
            allow_rule: source.allow_rule,
            deny,
            read_only,
            symlinks: source.symlinks,
            origins: SetOrigins { allow: allow_origins, deny: deny_origins, read_only: read_only_origins },
        })
    }

    /// What the rules say of doing `op` to `path`, which is in normal form (see [`crate::paths::absolute`]).
    ///
    /// Denials come first, then what is allowed, then what may only be read. The base directory and what it lies in can
    /// never be removed.
    #[must_use]
    pub fn judge(&self, path: &[u8], op: Op) -> PathVerdict {
        let folded = fold::path(path);
        if let Some(element) = self.deny.find(&folded) {
            return PathVerdict::Denied(self.origins.deny.get(element));
        }
        if is_never(path) {
            return PathVerdict::NotAllowed(ElementRef::BASE);
        }
        if !self.allow.matches(path) {
            return PathVerdict::NotAllowed(self.allow_rule);
        }
        self.judge_change(path, &folded, op)
    }

    /// What the rules say of `path` as the real place of one that is allowed as it is spelled: what denies it, and what lets
    /// it only be read.
    #[must_use]
    pub fn judge_real(&self, path: &[u8], op: Op) -> PathVerdict {
        let folded = fold::path(path);
        match self.deny.find(&folded) {
            Some(element) => PathVerdict::Denied(self.origins.deny.get(element)),
            None if is_never(path) => PathVerdict::NotAllowed(ElementRef::BASE),
            None => self.judge_change(path, &folded, op),
        }
    }

    /// What keeps `path` from being changed.
    fn judge_change(&self, path: &[u8], folded: &[u8], op: Op) -> PathVerdict {
        if !op.changes() {
            return PathVerdict::Allowed;
        }
        match &self.read_only {
            ReadOnly::Everything(element) => return PathVerdict::ReadOnly(*element),
            ReadOnly::Some(set) => {
                if let Some(element) = set.find(folded) {
                    return PathVerdict::ReadOnly(self.origins.read_only.get(element));
                }
            }
            ReadOnly::Nothing => {}
        }
        if op == Op::Delete && normal::is_at_or_below(self.base_dir.as_bytes(), path) {
            return PathVerdict::ReadOnly(ElementRef::BASE);
        }
        PathVerdict::Allowed
    }

    /// The element that allows `path`, whatever denies it.
    #[must_use]
    pub fn allowed_by(&self, path: &[u8]) -> Option<ElementRef> {
        self.allow.find(path).map(|element| self.origins.allow.get(element))
    }

    /// Whether anything strictly below the directory `dir` can be refused for `op`: denied, read-only or not allowed.
    ///
    /// `false` is a promise: a whole tree may be deleted or moved without a look at its entries. `true` means that each
    /// entry must be judged.
    #[must_use]
    pub fn may_refuse_below(&self, dir: &[u8], op: Op) -> bool {
        let folded = fold::path(dir);
        let changes = op.changes();
        self.deny.may_match_below(&folded)
            || !self.allow.covers_below(dir)
            || NEVER.iter().any(|never| normal::is_at_or_below(never.as_bytes(), dir))
            || match &self.read_only {
                ReadOnly::Nothing => false,
                ReadOnly::Everything(_) => changes,
                ReadOnly::Some(set) => changes && set.may_match_below(&folded),
            }
    }

    /// Makes the tables that the first question would have to make. Lists that were left unread are held to what the
    /// compiler accepts; a side with one that it does not is closed.
    ///
    /// # Errors
    /// What is wrong with a list that was left unread.
    pub fn prepare(&self) -> Result<(), PathRulesError> {
        sound(&self.allow, &self.origins.allow)?;
        sound(&self.deny, &self.origins.deny)?;
        match &self.read_only {
            ReadOnly::Some(set) => sound(set, &self.origins.read_only),
            ReadOnly::Nothing | ReadOnly::Everything(_) => Ok(()),
        }
    }

    /// The paths that every allowed path is or lies below: of a plain entry the entry itself (which may be a file), of a
    /// glob the directory before its first glob character. None lies below another; in no order, and one may come twice.
    pub fn roots(&self) -> impl Iterator<Item = &[u8]> {
        self.allow.roots()
    }

    /// What becomes of links.
    #[must_use]
    pub const fn symlinks(&self) -> Ruled<Symlinks> {
        self.symlinks
    }

    /// Where relative paths start.
    #[must_use]
    pub fn base_dir(&self) -> &[u8] {
        self.base_dir.as_bytes()
    }

    /// The rule that says what is allowed.
    #[must_use]
    pub const fn allow_rule(&self) -> RuleIx {
        self.allow_rule.rule
    }
}

/// Whether `path` lies where no rule can reach.
#[must_use]
pub fn is_never(path: &[u8]) -> bool {
    NEVER.iter().any(|never| normal::is_at_or_below(path, never.as_bytes()))
}

fn compile<const FOLD: bool>(
    lists: &[Listed<'_>],
    side: Side,
    base_dir: &Arc<str>,
) -> Result<(Patterns<FOLD>, Origins), PathRulesError> {
    let mut origins = Origins::default();
    let (mut element, mut known) = (0u32, Known::Direct);
    let mut numbered = Vec::with_capacity(lists.len());
    for Listed { list, origin } in lists {
        origins.add(element, *origin);
        numbered.push((element, list.entries().clone()));
        element = element.saturating_add(u32::try_from(list.len()).unwrap_or(u32::MAX));
        if list.is_unread() {
            known = Known::Nothing;
        } else if !direct::are_comparable(list.entries(), side) {
            known = known.min(Known::Accepted);
        }
    }
    let source = Source { lists: numbered, known, side, base_dir: Arc::clone(base_dir) };
    let patterns = Patterns::new(source);
    // Nothing can be wrong with direct entries, and what is yet unread is looked at later.
    if known == Known::Accepted {
        sound(&patterns, &origins)?;
    }
    Ok((patterns, origins))
}

fn sound<const FOLD: bool>(patterns: &Patterns<FOLD>, origins: &Origins) -> Result<(), PathRulesError> {
    patterns.sound().map_err(|fault| match fault {
        Fault::Entry { number, entry, error } => PathRulesError::Entry {
            entry: entry.to_string(),
            element: origins.get(*number),
            error: error.clone(),
        },
        Fault::Refused { number, why } => {
            PathRulesError::Refused { element: origins.get(*number), why: why.to_string() }
        }
        Fault::Unread(error) => PathRulesError::Unread(error.clone()),
        Fault::TooLarge => PathRulesError::TooLarge,
    })
}
