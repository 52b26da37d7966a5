//! The guard and its roots: directories that were opened once, at start.

use super::held::Root;
use super::path::{below, join, parts};
use super::{GuardOptions, Resolver, Seals, hold};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

/// The guard: root handles and a way to open beneath them. One for the whole server; rules come with each call.
#[derive(Debug)]
pub struct Guard {
    base: Arc<Root>,
    /// Where the links really lie that were followed to the base directory.
    base_links: Vec<Vec<u8>>,
    /// Whoever asks waits until they are held.
    roots: OnceLock<Roots>,
    sealed: Vec<Vec<u8>>,
    sealed_dirs: Vec<Vec<u8>>,
    seals: Arc<Seals>,
    resolver: Resolver,
    durable: bool,
    file_mode: LazyLock<Mode>,
}

/// The directories that a guard holds.
#[derive(Debug)]
struct Roots {
    /// The base directory among them, the deepest first.
    all: Vec<Arc<Root>>,
    /// Those whose place is another than it seems, and cannot be told from that of one above.
    linked: Vec<Arc<Root>>,
}

impl Roots {
    fn new(held: impl IntoIterator<Item = Arc<Root>>) -> Self {
        let mut all: Vec<Arc<Root>> = held.into_iter().collect();
        // The deepest root that holds a path serves it.
        all.sort_by_key(|root| std::cmp::Reverse(parts(&root.path).count()));
        let mut linked: Vec<Arc<Root>> = Vec::new();
        for root in all.iter().rev() {
            let tells = |above: &Arc<Root>| {
                below(&above.path, &root.path).is_some_and(|rest| join(above.real(), rest) == root.real())
            };
            if root.is_linked() && !linked.iter().any(tells) {
                linked.push(Arc::clone(root));
            }
        }
        Self { all, linked }
    }
}

impl Guard {
    /// A guard that holds all its roots. Those that `earlier` holds already are kept as they are, so that a reload of the
    /// policy does not follow what was put in their place.
    ///
    /// # Errors
    ///
    /// The system's error where `base_dir` cannot be opened as a directory.
    pub fn open(mut options: GuardOptions<'_>, earlier: Option<&Self>) -> Result<Self, Errno> {
        let roots = std::mem::take(&mut options.roots);
        let guard = Self::begin(options, earlier)?;
        guard.hold(&roots, earlier)?;
        Ok(guard)
    }

    /// A guard that holds the base directory alone, and nothing yet of `roots`: whoever wants a path waits for
    /// [`Self::hold`], which must be called.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn begin(options: GuardOptions<'_>, earlier: Option<&Self>) -> Result<Self, Errno> {
        let GuardOptions { base_dir, roots: _, sealed, sealed_dirs, seals, resolver, durable } = options;
        let (base, base_links) = hold::base(&base_dir, earlier.map_or(&[][..], Self::roots), resolver)?;
        let file_mode = LazyLock::new(new_file_mode as fn() -> Mode);
        let roots = OnceLock::new();
        Ok(Self { base, base_links, roots, sealed, sealed_dirs, seals, resolver, durable, file_mode })
    }

    /// Opens `roots` beside the base directory, once; `earlier` as in [`Self::open`].
    ///
    /// # Errors
    ///
    /// The system's error where a directory that exists cannot be opened for a reason that lies in the process.
    pub fn hold(&self, roots: &[&[u8]], earlier: Option<&Self>) -> Result<(), Errno> {
        let mut known = vec![Arc::clone(&self.base)];
        known.extend(
            earlier.map_or(&[][..], Self::roots).iter().filter(|root| root.path != self.base.path).cloned(),
        );
        let found = hold::hold(roots, &known, self.resolver)?;
        let mut held = BTreeMap::from([(self.base.path.clone(), Arc::clone(&self.base))]);
        for root in found {
            held.entry(root.path.clone()).or_insert(root);
        }
        LazyLock::force(&self.file_mode);
        // A second call changes nothing.
        let _ = self.roots.set(Roots::new(held.into_values()));
        Ok(())
    }

    /// Whether `dir` is a directory that is held, whatever has become of its name.
    #[must_use]
    pub fn holds(&self, dir: &[u8]) -> bool {
        self.roots().iter().any(|root| root.path == dir)
    }

    /// A link on the way to the base directory that lies within one of `roots`: whoever may write there could have put it.
    pub fn base_link_within<'r>(
        &self,
        mut roots: impl Iterator<Item = &'r [u8]>,
    ) -> Option<(&[u8], &'r [u8])> {
        // At a root itself it is the operator's, as the root is.
        let within = |dir: &[u8], link: &[u8]| below(dir, link).is_some_and(|rest| !rest.is_empty());
        if self.base_links.is_empty() {
            return None;
        }
        roots.find_map(|dir| {
            let link = self.base_links.iter().find(|link| within(dir, link))?;
            Some((&**link, dir))
        })
    }

    /// Where relative paths start.
    #[must_use]
    pub fn base_dir(&self) -> &[u8] {
        &self.base.path
    }

    /// How this guard opens.
    #[must_use]
    pub const fn resolver(&self) -> Resolver {
        self.resolver
    }

    /// The mode of a file made anew: what the process's umask leaves of 0666.
    #[must_use]
    pub fn file_mode(&self) -> Mode {
        *self.file_mode
    }

    /// Whether removing or renaming `path` would take the base directory away.
    #[must_use]
    pub fn holds_base(&self, path: &[u8]) -> bool {
        below(path, &self.base.path).is_some() || below(path, self.base.real()).is_some()
    }

    /// Whether what is written has to outlive the machine.
    #[must_use]
    pub const fn is_durable(&self) -> bool {
        self.durable
    }

    /// Makes what `fd` refers to, a file or a directory, survive a power cut.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn sync(&self, fd: impl AsFd) -> Result<(), Errno> {
        if self.durable { rustix::fs::fsync(fd) } else { Ok(()) }
    }

    /// A file without a name on the file system of the base directory, for what has to wait outside of memory.
    ///
    /// # Errors
    ///
    /// The system's error; file systems without such files exist.
    pub fn nameless_file(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(self.base.fd(), c".", flags, Mode::RUSR | Mode::WUSR)
    }

    /// The deepest root that holds the absolute `path`, and the part below it; the path may spell a root's real place.
    pub(crate) fn root_of<'p>(&self, path: &'p [u8]) -> Option<(usize, &'p [u8])> {
        let find = |spelling: fn(&Root) -> &[u8]| {
            self.roots().iter().enumerate().find_map(|(at, root)| Some((at, below(spelling(root), path)?)))
        };
        find(|root| &root.path).or_else(|| find(Root::real))
    }

    fn roots(&self) -> &[Arc<Root>] {
        &self.roots.wait().all
    }

    /// The roots that were reached through a link.
    pub(super) fn linked(&self) -> &[Arc<Root>] {
        &self.roots.wait().linked
    }

    pub(super) fn sealed(&self) -> &[Vec<u8>] {
        &self.sealed
    }

    pub(super) fn sealed_dirs(&self) -> &[Vec<u8>] {
        &self.sealed_dirs
    }

    /// What is refused by what it is.
    #[must_use]
    pub const fn seals(&self) -> &Arc<Seals> {
        &self.seals
    }

    pub(crate) fn root(&self, at: usize) -> Option<&Root> {
        self.roots().get(at).map(|root| &**root)
    }

    pub(crate) fn device_of(&self, root: usize) -> u64 {
        self.roots().get(root).map_or(0, |root| root.dev)
    }
}

/// What the umask leaves of 0666. The call that reads it also sets it, so the kernel's listing is asked instead.
fn new_file_mode() -> Mode {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let umask = umask.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o022);
    Mode::from_bits_truncate(0o666 & !umask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;
    use std::sync::Barrier;

    /// A base directory, and one within it.
    fn dirs() -> (tempfile::TempDir, Vec<u8>, Vec<u8>) {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().as_os_str().as_bytes().to_vec();
        let inner = [&base[..], b"/inner"].concat();
        std::fs::create_dir(temp.path().join("inner")).unwrap();
        (temp, base, inner)
    }

    #[test]
    fn who_asks_for_a_path_waits_until_the_roots_are_held() {
        let (_temp, base, inner) = dirs();
        let asked = [&inner[..], b"/file"].concat();
        for _ in 0..50 {
            let guard = Guard::begin(GuardOptions::new(base.clone()), None).unwrap();
            let start = Barrier::new(2);
            std::thread::scope(|scope| {
                let answer = scope.spawn(|| {
                    start.wait();
                    let (root, below) = guard.root_of(&asked).unwrap();
                    (guard.root(root).unwrap().path.clone(), below.to_vec())
                });
                start.wait();
                guard.hold(&[&inner], None).unwrap();
                assert_eq!(answer.join().unwrap(), (inner.clone(), b"file".to_vec()));
            });
            // Once and for all.
            guard.hold(&[], None).unwrap();
            assert_eq!(guard.root_of(&asked).unwrap().1, b"file");
        }
    }

    #[test]
    fn what_an_earlier_guard_holds_is_kept() {
        let (temp, base, inner) = dirs();
        let options = || GuardOptions { roots: vec![&inner], ..GuardOptions::new(base.clone()) };
        let earlier = Guard::open(options(), None).unwrap();
        std::fs::rename(temp.path().join("inner"), temp.path().join("moved")).unwrap();
        std::fs::create_dir(temp.path().join("inner")).unwrap();
        let later = Guard::open(options(), Some(&earlier)).unwrap();
        let inode = |guard: &Guard| {
            let root = guard.root(guard.root_of(&inner).unwrap().0).unwrap();
            rustix::fs::fstat(root.fd()).unwrap().st_ino
        };
        assert_eq!(inode(&later), inode(&earlier));
        assert_ne!(inode(&Guard::open(options(), None).unwrap()), inode(&earlier));
    }
}
