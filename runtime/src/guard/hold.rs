//! The directories of a policy on their way to being held. A policy may name many, few of which exist.

use super::Resolver;
use super::held::Root;
use super::path::{below, split_last};
use super::way::{End, Links, Ways};
use hashbrown::{HashMap, HashSet};
use rustix::fd::AsFd;
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use std::cmp::Ordering;
use std::sync::Arc;

/// From so many names on, a directory is listed once instead of being asked for each.
const MANY: usize = 16;

/// How many entries are read at most for each name that is sought: about as many as one failed open costs.
const ENTRIES_PER_NAME: usize = 8;

/// The base directory, and where the links really lie that were followed to it. One that `known` holds is kept as it is, and
/// below those no link is followed.
///
/// # Errors
/// Why it cannot be opened.
pub(super) fn base(
    path: &[u8],
    known: &[Arc<Root>],
    resolver: Resolver,
) -> Result<(Arc<Root>, Vec<Vec<u8>>), Errno> {
    if let Some(kept) = known.iter().find(|root| root.path == path) {
        return Ok((Arc::clone(kept), Vec::new()));
    }
    let mut ways = Ways::new(resolver);
    ways.close(known.iter().map(|root| &**root));
    let above = known.iter().filter(|root| below(&root.path, path).is_some());
    let end = match above.max_by_key(|root| root.path.len()) {
        Some(above) => ways.go(above, path, Links::Refused)?,
        None => ways.go(&Root::top()?, path, Links::Followed)?,
    };
    match end {
        End::There(root) => Ok((Arc::new(root), ways.followed)),
        End::Above { why, .. } => Err(why),
    }
}

/// Of each of `paths` the directory itself, or the nearest above it that can be had. What `known` holds is kept as it is.
///
/// # Errors
/// The system's error where it lies in the process.
pub(super) fn hold(
    paths: &[&[u8]],
    known: &[Arc<Root>],
    resolver: Resolver,
) -> Result<Vec<Arc<Root>>, Errno> {
    let held = known.iter().map(|root| (&*root.path, Arc::clone(root))).collect();
    let mut holding = Holding { held, found: HashMap::new(), ways: Ways::new(resolver) };
    let mut linked = holding.pass(paths, known, Links::Told)?;
    if !linked.is_empty() {
        // Where no link leads through is known only now.
        linked.sort_unstable();
        linked.dedup();
        holding.ways.close(holding.held.values().map(|root| &**root));
        holding.pass(&linked, &[], Links::Trusted)?;
    }
    Ok(holding.found.into_values().collect())
}

/// What is held so far. Keys are the paths as they are spelled.
struct Holding<'p> {
    /// Directories that a policy names. What lies below them may be the work of children: no link there is followed.
    held: HashMap<&'p [u8], Arc<Root>>,
    /// What has been found for the paths that are asked for.
    found: HashMap<&'p [u8], Arc<Root>>,
    ways: Ways,
}

/// A directory that some of the paths lie in.
struct Frame<'p> {
    path: &'p [u8],
    state: State,
}

#[derive(Clone)]
enum State {
    /// Open, and what becomes of links in it.
    There(Arc<Root>, Links),
    /// Not to be had; the nearest above it.
    Gone(Arc<Root>),
    /// Behind a link that is not looked at yet.
    Linked,
}

impl<'p> Holding<'p> {
    /// Opens `paths`, and gives those back that links are told of.
    ///
    /// Directories are gone through as a tree, each open only while something below it is sought; one in which much is
    /// sought is listed once, and none needs an open where it is not there itself.
    fn pass(
        &mut self,
        paths: &[&'p [u8]],
        known: &'p [Arc<Root>],
        links: Links,
    ) -> Result<Vec<&'p [u8]>, Errno> {
        let mut linked = Vec::new();
        let mut stack: Vec<Frame<'p>> = Vec::new();
        for (dir, sought) in by_directory(paths, known) {
            while stack.pop_if(|frame| below(frame.path, dir).is_none()).is_some() {}
            let state = self.enter(stack.last(), dir, links)?;
            self.take(dir, &sought, &state, &mut linked)?;
            stack.push(Frame { path: dir, state });
        }
        Ok(linked)
    }

    /// Opens the directory `dir` from the one above it that was entered last.
    fn enter(&mut self, above: Option<&Frame<'p>>, dir: &'p [u8], links: Links) -> Result<State, Errno> {
        if let Some(held) = self.held.get(dir) {
            return Ok(State::There(Arc::clone(held), Links::Refused));
        }
        let Some(above) = above else { return Ok(State::There(Arc::new(Root::top()?), links)) };
        // Between the two nothing is held but for a path of the one above.
        let (from, links) = match (self.held.get(child(above.path, dir)), &above.state) {
            (Some(held), _) => (Arc::clone(held), Links::Refused),
            (None, State::There(root, links)) => (Arc::clone(root), *links),
            (None, other) => return Ok(other.clone()),
        };
        Ok(match self.ways.go(&from, dir, links)? {
            End::There(root) => State::There(Arc::new(root), links),
            End::Above { link: true, .. } if links == Links::Told => State::Linked,
            End::Above { nearest, .. } => State::Gone(nearest.map_or(from, Arc::new)),
        })
    }

    /// Opens the paths that are sought in `dir`.
    fn take(
        &mut self,
        dir: &'p [u8],
        sought: &[&'p [u8]],
        state: &State,
        linked: &mut Vec<&'p [u8]>,
    ) -> Result<(), Errno> {
        let names = match state {
            State::There(root, _) if sought.len() >= MANY => {
                names(root.fd(), sought.len() * ENTRIES_PER_NAME)
            }
            // A directory that cannot be read, or holds far more than is sought, is asked name by name.
            _ => None,
        };
        let is_absent = |path: &[u8]| match (&names, split_last(path)) {
            (Some(names), Some((_, name))) => !names.contains(name),
            _ => false,
        };
        for path in sought {
            // Whatever has become of its name.
            if let Some(held) = self.held.get(path) {
                self.found.insert(path, Arc::clone(held));
                continue;
            }
            match state {
                State::Linked => linked.push(path),
                State::Gone(nearest) => self.stand_in(path, Arc::clone(nearest)),
                State::There(root, _) if *path == dir || is_absent(path) => {
                    self.stand_in(path, Arc::clone(root))
                }
                State::There(root, links) => match self.ways.go(root, path, *links)? {
                    End::There(found) => {
                        let found = Arc::new(found);
                        self.held.insert(path, Arc::clone(&found));
                        self.found.insert(path, found);
                    }
                    End::Above { link: true, .. } if *links == Links::Told => linked.push(path),
                    End::Above { .. } => self.stand_in(path, Arc::clone(root)),
                },
            }
        }
        Ok(())
    }

    /// Takes the directory `root` for `path`, which lies below it or is it.
    fn stand_in(&mut self, path: &'p [u8], root: Arc<Root>) {
        let spelled = path.get(..root.path.len()).unwrap_or(path);
        self.found.entry(spelled).or_insert(root);
    }
}

/// The paths of each directory, every directory behind those that it lies in, and `/` first. Where `known` lie is gone
/// through as well.
fn by_directory<'p>(paths: &[&'p [u8]], known: &'p [Arc<Root>]) -> Vec<(&'p [u8], Vec<&'p [u8]>)> {
    let top: &[u8] = b"/";
    let mut by_dir: HashMap<&[u8], Vec<&[u8]>> = HashMap::from([(top, Vec::new())]);
    for root in known {
        by_dir.entry(split_last(&root.path).map_or(top, |(dir, _)| dir)).or_default();
    }
    for path in paths {
        by_dir.entry(split_last(path).map_or(top, |(dir, _)| dir)).or_default().push(path);
    }
    let mut by_dir: Vec<_> = by_dir.into_iter().collect();
    by_dir.sort_unstable_by(|(one, _), (other, _)| in_order(one, other));
    by_dir
}

/// The order in which whatever lies below a path follows it at once: a slash comes before every other byte.
fn in_order(one: &[u8], other: &[u8]) -> Ordering {
    let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    let differing = one.iter().zip(other).find(|(one, other)| one != other);
    differing.map_or(one.len().cmp(&other.len()), |(one, other)| key(one).cmp(&key(other)))
}

/// The path in the directory `dir` that leads to `path`, which lies below it.
fn child<'p>(dir: &[u8], path: &'p [u8]) -> &'p [u8] {
    let rest = below(dir, path).unwrap_or_default();
    let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
    path.get(..path.len() - rest.len() + end).unwrap_or(path)
}

/// The names in a directory; `None` where it cannot be read, or holds more than `most`.
fn names(dir: impl AsFd, most: usize) -> Option<HashSet<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(dir, c".", flags, Mode::empty()).ok()?;
    let mut names = HashSet::new();
    for entry in Dir::new(dir).ok()? {
        if names.len() == most {
            return None;
        }
        names.insert(entry.ok()?.file_name().to_bytes().to_vec());
    }
    Some(names)
}

#[cfg(test)]
mod tests;
