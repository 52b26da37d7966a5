//! Roots on their way to being open. A policy may name many directories, few of which exist.

use super::path::split_last;
use super::root::{Root, open_root};
use hashbrown::{HashMap, HashSet};
use rustix::fd::AsFd;
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use std::sync::Arc;

/// From so many names on, a directory is listed once instead of being asked for each.
const MANY: usize = 16;

/// How many entries are read at most for each name that is sought: about as many as one failed open costs.
const ENTRIES_PER_NAME: usize = 8;

/// What came of every path that was opened so far.
#[derive(Default)]
pub(super) struct Seen {
    opened: HashMap<Vec<u8>, Result<Arc<Root>, Errno>>,
    /// All names in a directory.
    listed: HashMap<Vec<u8>, HashSet<Vec<u8>>>,
}

impl Seen {
    /// Begins with what is held already.
    pub(super) fn new(held: &[Arc<Root>]) -> Self {
        let opened = held.iter().map(|root| (root.path.clone(), Ok(Arc::clone(root))));
        Self { opened: opened.collect(), ..Self::default() }
    }

    /// Lists the directories in which many of `paths` lie, so that those which are absent need no open.
    ///
    /// A directory that cannot be read, or holds far more than is sought, is left to be asked name by name.
    pub(super) fn list(&mut self, paths: &[Vec<u8>]) {
        let mut sought: HashMap<&[u8], usize> = HashMap::new();
        for (dir, _) in paths.iter().filter_map(|path| split_last(path)) {
            *sought.entry(dir).or_default() += 1;
        }
        for (dir, count) in sought.into_iter().filter(|(_, count)| *count >= MANY) {
            if let Ok(root) = self.open(dir)
                && let Some(names) = names(root.fd(), count.saturating_mul(ENTRIES_PER_NAME))
            {
                self.listed.insert(dir.to_vec(), names);
            }
        }
    }

    /// `path` itself.
    pub(super) fn open(&mut self, path: &[u8]) -> Result<Arc<Root>, Errno> {
        if let Some(seen) = self.opened.get(path) {
            return seen.clone();
        }
        if let Some(absent) = self.absent(path) {
            return Err(absent);
        }
        let opened = open_root(path).map(Arc::new);
        self.opened.insert(path.to_vec(), opened.clone());
        opened
    }

    /// `path`, or the nearest directory above it that exists.
    pub(super) fn nearest(&mut self, mut path: &[u8]) -> Result<Arc<Root>, Errno> {
        loop {
            match (self.open(path), split_last(path)) {
                (Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS), Some((dir, _))) => path = dir,
                (done, _) => return done,
            }
        }
    }

    /// Why `path` cannot be there, where the directory above it tells.
    fn absent(&self, path: &[u8]) -> Option<Errno> {
        let (dir, name) = split_last(path)?;
        if self.listed.get(dir).is_some_and(|names| !names.contains(name)) {
            return Some(Errno::NOENT);
        }
        match self.opened.get(dir) {
            // Nothing lies below what is not there.
            Some(Err(absent @ (Errno::NOENT | Errno::NOTDIR))) => Some(*absent),
            Some(_) => None,
            None => self.absent(dir),
        }
    }
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
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    /// The path held for each of `paths`.
    fn held(mut seen: Seen, paths: &[Vec<u8>]) -> Vec<Result<Vec<u8>, Errno>> {
        paths.iter().map(|path| seen.nearest(path).map(|root| root.path.clone())).collect()
    }

    #[test]
    fn a_listed_directory_gives_the_roots_that_asking_for_each_gives() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        std::fs::create_dir(at("there")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        symlink("there", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        let absent = (0..MANY).map(|n| format!("absent-{n}"));
        let names = ["there", "file", "link", "dangling", "file/below", "link/below", "absent-0/below"];
        let paths: Vec<Vec<u8>> = names
            .map(str::to_owned)
            .into_iter()
            .chain(absent)
            .map(|name| at(&name).as_os_str().as_bytes().to_vec())
            .collect();
        let mut listing = Seen::default();
        listing.list(&paths);
        let dir = temp.path().as_os_str().as_bytes().to_vec();
        assert_eq!(listing.listed.keys().collect::<Vec<_>>(), [&dir]);
        let listed = held(listing, &paths);
        assert_eq!(listed, held(Seen::default(), &paths));
        let own = |name: &str| Ok(at(name).as_os_str().as_bytes().to_vec());
        assert_eq!(listed[..4], [own("there"), Ok(dir.clone()), own("link"), Ok(dir)]);
    }

    #[test]
    fn a_directory_that_holds_more_is_not_listed() {
        let temp = tempfile::tempdir().unwrap();
        for name in 0..3 {
            std::fs::write(temp.path().join(name.to_string()), "").unwrap();
        }
        let dir = std::fs::File::open(temp.path()).unwrap();
        // Three files, and the two names of the directory and of the one above.
        assert_eq!(names(&dir, 5).map(|names| names.len()), Some(5));
        assert_eq!(names(&dir, 4), None);
    }
}
