//! The way down a tree: the directories from its top to where a walk stands, of which only the nearest are held open.
//!
//! A tree may be deeper than a process may hold descriptors. A level that was let go is opened anew, from the top and
//! without following a link, when the walk comes back to it: whatever lies there by then, it is below the top.

use super::FilesError;
use crate::guard::Dir;
use std::collections::VecDeque;
use std::sync::Arc;

/// Levels held open at most, beside the top.
pub(super) const HELD: usize = 64;

/// The levels of a walk below `top`, with what it keeps of each.
#[derive(Debug)]
pub(super) struct Descent<'t, T> {
    top: &'t Dir,
    state: T,
    levels: Vec<Level<T>>,
}

#[derive(Debug)]
struct Level<T> {
    name: Vec<u8>,
    /// The last level's is always there.
    dir: Option<Dir>,
    state: T,
}

impl<'t, T> Descent<'t, T> {
    /// A walk that stands at `top`.
    pub(super) fn new(top: &'t Dir, state: T) -> Self {
        Self { top, state, levels: Vec::new() }
    }

    /// Where the walk stands.
    pub(super) fn here(&mut self) -> (&Dir, &mut T) {
        match self.levels.last_mut() {
            Some(Level { dir: Some(dir), state, .. }) => (dir, state),
            _ => (self.top, &mut self.state),
        }
    }

    /// Goes down into `dir`, which was found here under `name`.
    pub(super) fn enter(&mut self, name: Vec<u8>, dir: Dir, state: T) {
        self.levels.push(Level { name, dir: Some(dir), state });
        if let Some(far) = self.levels.len().checked_sub(HELD + 1).and_then(|far| self.levels.get_mut(far)) {
            far.dir = None;
        }
    }

    /// Goes up, and tells what the directory left is called; `None` at the top.
    ///
    /// # Errors
    ///
    /// Not found, or the system's error, where the directory above is not there any more.
    pub(super) fn leave(&mut self) -> Result<Option<Vec<u8>>, FilesError> {
        let Some(left) = self.levels.pop() else { return Ok(None) };
        if self.levels.last().is_some_and(|above| above.dir.is_none()) {
            self.reopen()?;
        }
        Ok(Some(left.name))
    }

    /// Opens the lowest levels again: half of what may be held, so that going up costs a way down once in a while.
    fn reopen(&mut self) -> Result<(), FilesError> {
        let kept = self.levels.len().saturating_sub(HELD / 2);
        let (far, near) = self.levels.split_at_mut(kept);
        let far = self
            .top
            .descend(far.iter().map(|level| level.name.as_slice()))
            .map_err(FilesError::from_guard)?;
        let mut above = far.as_ref().unwrap_or(self.top);
        for level in near {
            let dir = above.open_dir(&level.name).map_err(FilesError::from_guard)?;
            above = level.dir.insert(dir);
        }
        Ok(())
    }
}

/// Directories far down that a walk was in last, by their path below its top.
#[derive(Debug, Default)]
pub(super) struct Near(VecDeque<(Vec<u8>, Arc<Dir>)>);

impl Near {
    /// Remembers a directory, and forgets the one that was not asked for longest.
    pub(super) fn keep(&mut self, relative: &[u8], dir: Arc<Dir>) {
        if self.0.len() == HELD / 2 {
            self.0.pop_front();
        }
        self.0.push_back((relative.to_vec(), dir));
    }

    /// The directory at `relative` below `top`: remembered, or else opened from the top, and with it those just above.
    /// `None` where the way there is gone.
    pub(super) fn reach(&mut self, top: &Dir, relative: &[u8]) -> Option<Arc<Dir>> {
        if let Some((_, dir)) = self.0.iter().rev().find(|(path, _)| path == relative) {
            return Some(Arc::clone(dir));
        }
        let far = memchr::memchr_iter(b'/', relative).count().saturating_sub(HELD / 2);
        let mut here: Option<Arc<Dir>> = None;
        let mut path = Vec::new();
        for (level, name) in relative.split(|byte| *byte == b'/').enumerate() {
            let next = Arc::new(here.as_deref().unwrap_or(top).open_dir(name).ok()?);
            if level > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            if level > far {
                self.keep(&path, Arc::clone(&next));
            }
            here = Some(next);
        }
        here
    }
}
