//! What a guard says of a path without touching it.

use super::path::{below, join};
use super::root::Guard;
use super::verdict::{Op, PathJudge, Refusal, RefusalKind};

/// Subtrees that no policy opens, whatever is mounted there.
const NEVER: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

/// Whether a path lies where no policy reaches.
pub(super) fn is_never(path: &[u8]) -> bool {
    NEVER.iter().any(|never| below(never, path).is_some())
}

impl Guard {
    /// Judges one absolute, normal path, without touching it; where a root is reached through a link, what lies in it by the
    /// place where it really lies as well.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn judge(&self, judge: &dyn PathJudge, path: &[u8], op: Op) -> Result<(), Refusal> {
        self.judge_own(path)?;
        judge.judge(path, op)?;
        for (root, rest) in self.linked_above(path) {
            // The link to the base directory is the operator's word.
            if below(self.base_dir(), path).is_none() {
                judge.judge_linked_root()?;
            }
            let real = join(root, rest);
            self.judge_own(&real)?;
            judge.judge_real(&real, op)?;
        }
        Ok(())
    }

    /// Judges a path by what no policy can change.
    fn judge_own(&self, path: &[u8]) -> Result<(), Refusal> {
        if is_never(path) {
            return Err(Refusal::own(RefusalKind::NotAllowed));
        }
        if self.sealed().iter().any(|sealed| below(sealed, path).is_some()) {
            return Err(Refusal::own(RefusalKind::Denied));
        }
        Ok(())
    }

    /// Whether an entry below `dir` could be judged otherwise than `dir` itself.
    #[must_use]
    pub fn narrows_below(&self, judge: &dyn PathJudge, dir: &[u8], op: Op) -> bool {
        let narrows = |dir: &[u8]| {
            let inside = |path: &[u8]| below(dir, path).is_some();
            judge.narrows_below(dir, op)
                || self.sealed().iter().any(|path| inside(path))
                || NEVER.iter().any(|path| inside(path))
        };
        narrows(dir) || self.linked_above(dir).any(|(root, rest)| narrows(&join(root, rest)))
    }

    /// Where the roots really lie that hold `path` and are reached through a link, each with the part below it.
    fn linked_above<'p>(&self, path: &'p [u8]) -> impl Iterator<Item = (&[u8], &'p [u8])> {
        self.linked().iter().filter_map(move |root| Some((root.real(), below(&root.path, path)?)))
    }
}
