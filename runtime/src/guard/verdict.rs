//! What the guard asks of a policy: one judgement a path.

use policy_lang::resolved::RuleIx;

/// What a caller means to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read content or metadata.
    Read,
    /// Create or replace.
    Write,
    /// Remove, or move away.
    Delete,
    /// Read the names of a directory.
    List,
    /// Use as a working directory.
    Run,
}

impl Op {
    /// Whether the operation changes anything.
    #[must_use]
    pub const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Delete)
    }
}

/// Whether links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symlinks {
    /// While what they name is allowed.
    Within,
    /// Never.
    Deny,
}

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// No allow rule covers it, or it would leave the roots.
    NotAllowed,
    /// A deny rule covers it, or a part of it.
    Denied,
    /// It may be read but not changed.
    ReadOnly,
    /// It passes through a link, and the rules follow none.
    Symlink,
}

/// A refusal and the rule behind it. It says nothing about whether the path exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// The deciding rule, where a rule decided and not the guard itself.
    pub rule: Option<RuleIx>,
}

impl Refusal {
    /// A refusal of the guard's own.
    #[must_use]
    pub const fn own(kind: RefusalKind) -> Self {
        Self { kind, rule: None }
    }
}

/// The path rules of one endpoint. Judging is pure: it never touches the file system.
pub trait PathJudge: Sync {
    /// Judges an absolute, lexically normal path.
    ///
    /// # Errors
    ///
    /// The refusal.
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal>;

    /// Whether links are followed.
    fn symlinks(&self) -> Symlinks;

    /// The rule that says [`PathJudge::symlinks`].
    fn symlinks_rule(&self) -> Option<RuleIx> {
        None
    }

    /// Whether an entry below `dir`, a path judged as allowed, could be judged otherwise. `true` is always a right
    /// answer; `false` spares a walk the judging of each entry.
    fn narrows_below(&self, dir: &[u8], op: Op) -> bool {
        let _ = (dir, op);
        true
    }
}
