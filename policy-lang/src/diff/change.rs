//! What a comparison yields: for each (endpoint, key) that changed a verdict, the rule and place on both sides, and the
//! request that shows it.

use super::witness::Witness;
use crate::endpoint::Key;
use crate::layer::LayerKind;
use crate::resolved::FilePlace;

/// What became of the set of calls that a key permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The same calls.
    Same,
    /// Fewer.
    Narrowed,
    /// Some more, and some no longer.
    Reshaped,
    /// More.
    Widened,
}

impl Verdict {
    /// All, the quietest first.
    pub const ALL: [Self; 4] = [Self::Same, Self::Narrowed, Self::Reshaped, Self::Widened];

    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Narrowed => "narrowed",
            Self::Reshaped => "reshaped",
            Self::Widened => "widened",
        }
    }

    /// Whether some call is permitted that was not.
    #[must_use]
    pub const fn opens(self) -> bool {
        matches!(self, Self::Widened | Self::Reshaped)
    }

    /// From what was found in either direction.
    pub(super) const fn of(opens: bool, closes: bool) -> Self {
        match (opens, closes) {
            (false, false) => Self::Same,
            (false, true) => Self::Narrowed,
            (true, true) => Self::Reshaped,
            (true, false) => Self::Widened,
        }
    }
}

/// Who or what a change concerns.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// An endpoint, by its id.
    Endpoint(String),
    /// An identity of `auth.tokens`, by its id.
    Identity(String),
    /// The list of tokens as a whole, which may be there or not.
    Tokens,
    /// The endpoint table that a compiled set was made for.
    Table,
}

impl Subject {
    /// As reports and accept files write it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Endpoint(id) => id,
            Self::Identity(_) | Self::Tokens => "auth.tokens",
            Self::Table => "endpoint-table",
        }
    }
}

/// What of the subject changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aspect {
    /// A rule key of an endpoint.
    Key(Key),
    /// Whether an identity or the list is there.
    Present,
    /// What an identity holds.
    Scopes,
    /// Which secret proves an identity.
    Secret,
    /// Which endpoints there are.
    Endpoints,
}

impl Aspect {
    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key(key) => key.as_str(),
            Self::Present => "present",
            Self::Scopes => "scopes",
            Self::Secret => "secret",
            Self::Endpoints => "endpoints",
        }
    }
}

/// How it is known that a side permits what the other refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A call on which [`crate::decide::decide`] was asked on both sides.
    Witness(Box<Witness>),
    /// No call was found, and that there is none could not be proven: taken for a change. Says why.
    Unproven(&'static str),
}

impl Evidence {
    /// The call, where there is one.
    #[must_use]
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Self::Witness(witness) => Some(witness),
            Self::Unproven(_) => None,
        }
    }
}

/// What one side says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// The value, or the element that decided.
    pub value: Option<String>,
    /// The rule: `policy:endpoints.shell`, `default:base`. None where no rule speaks.
    pub rule: Option<String>,
    /// Its layer.
    pub layer: Option<LayerKind>,
    /// Where it is said, in the files of that side's policy.
    pub at: Option<FilePlace>,
}

/// Who changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The author of the document.
    Author,
    /// A preset of the same name says something else than it did.
    Preset(String),
    /// A rule that stands on both sides matches an endpoint that the other side's table did not have.
    Table(String),
    /// The catalogue's own value.
    Base,
}

impl Cause {
    /// As reports print it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Author => "author",
            Self::Preset(_) => "preset",
            Self::Table(_) => "table",
            Self::Base => "base",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Whom it concerns.
    pub subject: Subject,
    /// What of it.
    pub aspect: Aspect,
    /// What became of it; never [`Verdict::Same`].
    pub verdict: Verdict,
    /// A call that only the new side permits.
    pub opening: Option<Evidence>,
    /// A call that only the old side permits.
    pub closing: Option<Evidence>,
    /// What the old side says.
    pub old: Said,
    /// What the new side says.
    pub new: Said,
    /// Who changed it.
    pub cause: Cause,
}

impl Change {
    /// The evidence that matters most: of what was opened, or else of what was closed.
    #[must_use]
    pub fn evidence(&self) -> Option<&Evidence> {
        self.opening.as_ref().or(self.closing.as_ref())
    }
}

/// Everything that changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// The changes: tokens first, then endpoints in the order of the catalogue, their keys in the order of the key table.
    pub changes: Vec<Change>,
    /// How many (endpoint, key) pairs were compared.
    pub compared: usize,
    /// Keys that say something else behind an endpoint that is closed on both sides, or on one.
    pub latent: usize,
}

impl Diff {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes that permit what was refused.
    pub fn widened(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.verdict.opens())
    }

    /// What became of one key of one endpoint.
    #[must_use]
    pub fn verdict(&self, endpoint: &str, key: Key) -> Verdict {
        let its = |change: &&Change| {
            matches!(&change.subject, Subject::Endpoint(id) if id == endpoint)
                && change.aspect == Aspect::Key(key)
        };
        self.changes.iter().find(its).map_or(Verdict::Same, |change| change.verdict)
    }
}
