//! What the guard asks of a policy: one judgement a path.

pub use policy_lang::decide::Op;
pub use policy_lang::paths::Symlinks;
use policy_lang::policy::ElementRef;

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
    /// Nothing of this extension may be written.
    Extension,
}

/// A refusal and the rule behind it. It says nothing about whether the path exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// What decided.
    pub element: ElementRef,
}

impl Refusal {
    /// A refusal of the guard's own.
    #[must_use]
    pub const fn own(kind: RefusalKind) -> Self {
        Self { kind, element: ElementRef::BASE }
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

    /// Judges where a path really lies that is reached through a root that is a link. It was allowed as it is spelled: only
    /// what denies it or keeps it from being changed is asked.
    ///
    /// # Errors
    ///
    /// The refusal.
    fn judge_real(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        match self.judge(path, op) {
            Err(refusal) if refusal.kind == RefusalKind::NotAllowed => Ok(()),
            judged => judged,
        }
    }

    /// Judges that a root is reached through a link.
    ///
    /// # Errors
    ///
    /// The refusal.
    fn judge_linked_root(&self) -> Result<(), Refusal> {
        match self.symlinks() {
            Symlinks::Within => Ok(()),
            Symlinks::Deny => Err(Refusal { kind: RefusalKind::Symlink, element: self.symlinks_element() }),
        }
    }

    /// Whether links are followed.
    fn symlinks(&self) -> Symlinks;

    /// What says [`PathJudge::symlinks`].
    fn symlinks_element(&self) -> ElementRef {
        ElementRef::BASE
    }

    /// Whether an entry below `dir`, a path judged as allowed, could be judged otherwise. `true` is always a right
    /// answer; `false` spares a walk the judging of each entry.
    fn narrows_below(&self, dir: &[u8], op: Op) -> bool {
        let _ = (dir, op);
        true
    }
}
