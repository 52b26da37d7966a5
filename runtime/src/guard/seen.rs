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
}

impl Seen {
    /// Begins with what is held already.
    pub(super) fn new(held: &[Arc<Root>]) -> Self {
        let opened = held.iter().map(|root| (root.path.clone(), Ok(Arc::clone(root))));
        Self { opened: opened.collect() }
    }

    /// Takes in what is held too.
    pub(super) fn keep(&mut self, root: &Arc<Root>) {
        self.opened.insert(root.path.clone(), Ok(Arc::clone(root)));
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

    /// Of each of `paths` the nearest directory that exists, with repetitions.
    ///
    /// Those of one directory are looked at together: it is listed once where many are sought in it, and none needs an
    /// open where it is not there itself.
    pub(super) fn nearest_of(&mut self, paths: &[&[u8]]) -> Result<Vec<Arc<Root>>, Errno> {
        let mut found = Vec::new();
        // `None`: a directory that is not there, and below which nothing is.
        let mut by_dir: HashMap<&[u8], Option<Vec<&[u8]>>> = HashMap::new();
        for path in paths {
            let Some((dir, _)) = split_last(path) else {
                found.push(self.nearest(path)?);
                continue;
            };
            match by_dir.get_mut(dir) {
                Some(Some(sought)) => sought.push(path),
                Some(None) => {}
                None => {
                    let absent = matches!(self.open(dir), Err(Errno::NOENT | Errno::NOTDIR));
                    if absent {
                        found.push(self.nearest(dir)?);
                    }
                    by_dir.insert(dir, (!absent).then(|| vec![*path]));
                }
            }
        }
        for (dir, sought) in by_dir {
            let Some(sought) = sought else { continue };
            let names = match self.open(dir) {
                Ok(root) if sought.len() >= MANY => names(root.fd(), sought.len() * ENTRIES_PER_NAME),
                // A directory that cannot be read, or holds far more than is sought, is asked name by name.
                _ => None,
            };
            let is_there = |path: &[u8]| match (&names, split_last(path)) {
                (Some(names), Some((_, name))) => names.contains(name),
                _ => true,
            };
            let (there, absent): (Vec<&[u8]>, Vec<&[u8]>) =
                sought.into_iter().partition(|path| is_there(path));
            if !absent.is_empty() {
                found.push(self.nearest(dir)?);
            }
            for path in there {
                found.push(self.nearest(path)?);
            }
        }
        Ok(found)
    }

    /// Why `path` cannot be there, where a directory above it tells.
    fn absent(&self, path: &[u8]) -> Option<Errno> {
        let (dir, _) = split_last(path)?;
        match self.opened.get(dir) {
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
    use std::collections::BTreeSet;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    /// What is held for `paths`, each directory once.
    fn held(paths: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
        let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        let found = Seen::default().nearest_of(&paths).unwrap();
        found.iter().map(|root| root.path.clone()).collect()
    }

    #[test]
    fn what_is_looked_at_together_gives_the_roots_that_asking_for_each_gives() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name).as_os_str().as_bytes().to_vec();
        std::fs::create_dir(temp.path().join("there")).unwrap();
        std::fs::create_dir(temp.path().join("there/inner")).unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        symlink("there", temp.path().join("link")).unwrap();
        symlink("nowhere", temp.path().join("dangling")).unwrap();
        let absent: Vec<Vec<u8>> = (0..MANY).map(|n| at(&format!("absent-{n}"))).collect();
        let names = [
            "there",
            "file",
            "link",
            "dangling",
            "file/below",
            "link/inner",
            "absent-0/below",
            "there/inner",
            "there/none",
            "absent-0/below/more",
        ];
        let named = names.map(at);
        for most in [0, MANY] {
            let paths: Vec<Vec<u8>> =
                named.iter().chain(absent.iter().take(most)).cloned().chain([b"/".to_vec()]).collect();
            let mut one_by_one = Seen::default();
            let each = paths.iter().map(|path| one_by_one.nearest(path).unwrap().path.clone()).collect();
            assert_eq!(held(&paths), each, "{most} more");
            let wanted = [at("there"), at("link"), at("link/inner"), at("there/inner"), b"/".to_vec()];
            let dir = temp.path().as_os_str().as_bytes().to_vec();
            assert_eq!(each, wanted.into_iter().chain([dir]).collect());
        }
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
