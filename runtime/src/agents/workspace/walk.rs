//! A workspace from top to bottom, on handles: what belongs to it, and what is left out and why.

use std::ops::ControlFlow;

use rustix::fs::Stat;

use super::ignored::Ignored;
use super::index::Index;
use super::tree::DEEPEST;
use crate::files::{Access, FilesError};
use crate::guard::{Dir, Kind, Listed, ListingBuffer, Op, kind_of};

/// A path that is left out.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Skipped {
    /// From the top, lossy.
    pub path: String,
    /// `too_large`, `too_deep`, `unreadable`, or the code of a refusal.
    pub why: String,
}

impl Skipped {
    pub(super) fn new(path: &[u8], why: &str) -> Self {
        Self { path: String::from_utf8_lossy(path).into_owned(), why: why.to_owned() }
    }
}

/// A file or a link of the workspace.
pub(super) struct Found<'d> {
    pub(super) dir: &'d Dir,
    pub(super) name: &'d [u8],
    /// From the top.
    pub(super) relative: &'d [u8],
    pub(super) stat: &'d Stat,
}

/// Why a file was left out, if it was.
pub(super) type Taken = Result<Option<&'static str>, FilesError>;

/// What is walked.
pub(super) struct Walk<'a> {
    pub(super) access: Access<'a>,
    /// What the last snapshot held stays part of the workspace, whatever is ignored since.
    pub(super) index: &'a Index,
    /// Paths that take part although they are ignored.
    pub(super) named: &'a [Vec<u8>],
}

impl Walk<'_> {
    /// Hands every file and link below `top` to `each`, which may say why it leaves one out. Repositories' own data, FIFOs, sockets and devices are no part of a
    /// workspace; what the rules of the endpoint refuse is left out without a word.
    pub(super) fn run(
        &self,
        top: &Dir,
        skipped: &mut Vec<Skipped>,
        each: &mut dyn FnMut(&Found<'_>) -> Taken,
    ) -> Result<(), FilesError> {
        let mut state =
            State { ignored: Ignored::default(), buffer: ListingBuffer::default(), skipped, each };
        self.directory(top, &[], 1, false, &mut state)
    }

    /// One directory; an `outer` one is ignored, and only what is held or named takes part.
    fn directory(
        &self,
        dir: &Dir,
        relative: &[u8],
        depth: usize,
        outer: bool,
        state: &mut State<'_>,
    ) -> Result<(), FilesError> {
        self.access.stop.check()?;
        state.ignored.enter(dir, relative);
        let mut names = Vec::new();
        dir.read(&mut state.buffer, |Listed { name, sealed, .. }| {
            names.extend((!sealed).then(|| name.to_vec()));
            ControlFlow::Continue(())
        })?;
        names.sort_unstable();
        for name in names {
            let path = if relative.is_empty() { name.clone() } else { [relative, b"/", &name].concat() };
            self.entry(dir, &name, &path, depth, outer, state)?;
        }
        state.ignored.leave();
        Ok(())
    }

    fn entry(
        &self,
        dir: &Dir,
        name: &[u8],
        path: &[u8],
        depth: usize,
        outer: bool,
        state: &mut State<'_>,
    ) -> Result<(), FilesError> {
        if name.eq_ignore_ascii_case(b".git") {
            return Ok(());
        }
        let whole = [dir.path(), b"/", name].concat();
        if self.access.guard.judge(self.access.judge, &whole, Op::Read).is_err() {
            return Ok(());
        }
        // What went away meanwhile was not there.
        let Ok(stat) = dir.stat(name) else { return Ok(()) };
        let kind = kind_of(&stat);
        let is_directory = kind == Kind::Directory;
        let named = self.named.iter().any(|named| touches(named, path, is_directory));
        let hidden = (outer || state.ignored.hides(path, is_directory)) && !named;
        match kind {
            Kind::Directory if hidden && !self.index.holds_below(path) => Ok(()),
            Kind::Directory if depth >= DEEPEST => {
                state.skipped.push(Skipped::new(path, "too_deep"));
                Ok(())
            }
            Kind::Directory => match dir.open_dir(name) {
                Ok(below) => self.directory(&below, path, depth + 1, hidden, state),
                Err(_) => {
                    state.skipped.push(Skipped::new(path, "unreadable"));
                    Ok(())
                }
            },
            Kind::Special => Ok(()),
            Kind::File | Kind::Symlink if hidden && !self.index.holds(path) => Ok(()),
            Kind::File | Kind::Symlink => {
                let left_out = (state.each)(&Found { dir, name, relative: path, stat: &stat })?;
                state.skipped.extend(left_out.map(|why| Skipped::new(path, why)));
                Ok(())
            }
        }
    }
}

/// Whether naming `named` brings `path` in: it is that path, lies below it, or is a directory on the way there.
fn touches(named: &[u8], path: &[u8], is_directory: bool) -> bool {
    let below = |dir: &[u8], path: &[u8]| {
        path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    below(named, path) || (is_directory && below(path, named))
}

struct State<'s> {
    ignored: Ignored,
    buffer: ListingBuffer,
    skipped: &'s mut Vec<Skipped>,
    each: &'s mut dyn FnMut(&Found<'_>) -> Taken,
}
