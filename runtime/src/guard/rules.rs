//! The compiled rules of an endpoint as the guard asks them.

use super::verdict::{Op, PathJudge, Refusal, RefusalKind, Symlinks};
use policy_lang::matchers::extension::ExtensionRules;
use policy_lang::paths::{PathRules, PathVerdict};
use policy_lang::policy::{ElementRef, EndpointPolicy};

/// What one endpoint says of paths, and of the extensions of what is written there.
#[derive(Debug, Clone, Copy)]
pub struct EndpointRules<'p> {
    paths: &'p PathRules,
    extensions: Option<&'p ExtensionRules>,
}

impl<'p> EndpointRules<'p> {
    /// The rules of an endpoint; `None` where it takes no paths.
    #[must_use]
    pub fn of(policy: &'p EndpointPolicy) -> Option<Self> {
        Some(Self { paths: policy.paths.as_deref()?, extensions: policy.params.extensions.as_deref() })
    }
}

impl PathJudge for EndpointRules<'_> {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        verdict(self.paths.judge(path, op))?;
        match self.extensions.filter(|_| op == Op::Write).and_then(|extensions| extensions.refuses(path)) {
            Some(element) => Err(Refusal { kind: RefusalKind::Extension, element }),
            None => Ok(()),
        }
    }

    fn judge_real(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        verdict(self.paths.judge_real(path, op))
    }

    fn symlinks(&self) -> Symlinks {
        self.paths.symlinks().value
    }

    fn symlinks_element(&self) -> ElementRef {
        ElementRef { rule: self.paths.symlinks().rule, ..ElementRef::BASE }
    }

    fn narrows_below(&self, dir: &[u8], op: Op) -> bool {
        (op == Op::Write && self.extensions.is_some()) || self.paths.may_refuse_below(dir, op)
    }
}

fn verdict(verdict: PathVerdict) -> Result<(), Refusal> {
    let refusal = |kind, element| Err(Refusal { kind, element });
    match verdict {
        PathVerdict::Allowed => Ok(()),
        PathVerdict::NotAllowed(element) => refusal(RefusalKind::NotAllowed, element),
        PathVerdict::Denied(element) => refusal(RefusalKind::Denied, element),
        PathVerdict::ReadOnly(element) => refusal(RefusalKind::ReadOnly, element),
    }
}
