//! The guard and its roots: directories that were opened once, at start.

use super::Resolver;
use super::foreign::is_foreign;
use super::path::{below, parts};
use super::seen::Seen;
use super::verdict::{Op, PathJudge, Refusal, RefusalKind};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

/// Subtrees that no policy opens, whatever is mounted there.
const NEVER: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

/// What a guard is made from. Paths are absolute and normal.
#[derive(Debug, Clone)]
pub struct GuardOptions<'a> {
    /// Where relative paths start. It must exist.
    pub base_dir: Vec<u8>,
    /// Directories that path rules name beside it. Where one does not exist, its nearest ancestor is held instead.
    pub roots: Vec<&'a [u8]>,
    /// Paths refused for every operation, such as the audit file.
    pub sealed: Vec<Vec<u8>>,
    /// How to open.
    pub resolver: Resolver,
    /// Whether what was changed is synced before it is reported. Only where nothing has to outlive the machine, as in
    /// tests, is this anything but `true`.
    pub durable: bool,
}

impl GuardOptions<'_> {
    /// A guard for `base_dir` alone, with the best resolver.
    #[must_use]
    pub fn new(base_dir: impl Into<Vec<u8>>) -> Self {
        Self {
            base_dir: base_dir.into(),
            roots: Vec::new(),
            sealed: Vec::new(),
            resolver: Resolver::detect(),
            durable: true,
        }
    }
}

/// A directory held open.
#[derive(Debug)]
pub(crate) struct Root {
    /// As the policy spells it.
    pub(crate) path: Vec<u8>,
    /// With its own links resolved, as it was at start.
    real: Vec<u8>,
    fd: OwnedFd,
    /// The device it lives on; anything on another is looked at before it is served.
    dev: u64,
}

impl Root {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Its parts above, for a `..` that climbs out of it.
    pub(crate) fn real_parent(&self) -> &[u8] {
        super::path::split_last(&self.real).map_or(b"/", |(dir, _)| dir)
    }
}

/// The guard: root handles and a way to open beneath them. One for the whole server; rules come with each call.
#[derive(Debug)]
pub struct Guard {
    base: Arc<Root>,
    /// Whoever asks waits until they are held.
    roots: OnceLock<Vec<Arc<Root>>>,
    sealed: Vec<Vec<u8>>,
    resolver: Resolver,
    durable: bool,
    file_mode: LazyLock<Mode>,
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
        let GuardOptions { base_dir, roots: _, sealed, resolver, durable } = options;
        let base = Seen::new(earlier.map_or(&[], Self::roots)).open(&base_dir)?;
        let file_mode = LazyLock::new(new_file_mode as fn() -> Mode);
        Ok(Self { base, roots: OnceLock::new(), sealed, resolver, durable, file_mode })
    }

    /// Opens `roots` beside the base directory, once; `earlier` as in [`Self::open`].
    ///
    /// # Errors
    ///
    /// The system's error where a directory that exists cannot be opened for a reason that lies in the process.
    pub fn hold(&self, roots: &[&[u8]], earlier: Option<&Self>) -> Result<(), Errno> {
        let mut seen = Seen::new(earlier.map_or(&[], Self::roots));
        seen.keep(&self.base);
        let mut held = BTreeMap::from([(self.base.path.clone(), Arc::clone(&self.base))]);
        for root in seen.nearest_of(roots)? {
            if !held.contains_key(&root.path) {
                held.insert(root.path.clone(), root);
            }
        }
        let mut held: Vec<Arc<Root>> = held.into_values().collect();
        // The deepest root that holds a path serves it.
        held.sort_by_key(|root| std::cmp::Reverse(parts(&root.path).count()));
        LazyLock::force(&self.file_mode);
        // A second call changes nothing.
        let _ = self.roots.set(held);
        Ok(())
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

    /// Judges one absolute, normal path, without touching it.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub fn judge(&self, judge: &dyn PathJudge, path: &[u8], op: Op) -> Result<(), Refusal> {
        if NEVER.iter().any(|never| below(never, path).is_some()) {
            return Err(Refusal::own(RefusalKind::NotAllowed));
        }
        if self.sealed.iter().any(|sealed| below(sealed, path).is_some()) {
            return Err(Refusal::own(RefusalKind::Denied));
        }
        judge.judge(path, op)
    }

    /// Whether an entry below `dir` could be judged otherwise than `dir` itself.
    #[must_use]
    pub fn narrows_below(&self, judge: &dyn PathJudge, dir: &[u8], op: Op) -> bool {
        let inside = |path: &[u8]| below(dir, path).is_some();
        judge.narrows_below(dir, op)
            || self.sealed.iter().any(|path| inside(path))
            || NEVER.iter().any(|path| inside(path))
    }

    /// Whether removing or renaming `path` would take the base directory away.
    #[must_use]
    pub fn holds_base(&self, path: &[u8]) -> bool {
        below(path, &self.base.path).is_some() || below(path, &self.base.real).is_some()
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
        rustix::fs::openat(&self.base.fd, c".", flags, Mode::RUSR | Mode::WUSR)
    }

    /// The deepest root that holds the absolute `path`, and the part below it; the path may spell a root's real place.
    pub(crate) fn root_of<'p>(&self, path: &'p [u8]) -> Option<(usize, &'p [u8])> {
        let find = |spelling: fn(&Root) -> &[u8]| {
            self.roots().iter().enumerate().find_map(|(at, root)| Some((at, below(spelling(root), path)?)))
        };
        find(|root| &root.path).or_else(|| find(|root| &root.real))
    }

    fn roots(&self) -> &[Arc<Root>] {
        self.roots.wait()
    }

    pub(crate) fn root(&self, at: usize) -> Option<&Root> {
        self.roots().get(at).map(|root| &**root)
    }

    pub(crate) fn device_of(&self, root: usize) -> u64 {
        self.roots().get(root).map_or(0, |root| root.dev)
    }
}

/// Opens `path` itself.
pub(super) fn open_root(path: &[u8]) -> Result<Root, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty())?;
    let dev = rustix::fs::fstat(&fd)?.st_dev;
    if is_foreign(&fd)? {
        return Err(Errno::ACCESS);
    }
    let real = std::fs::canonicalize(Path::new(OsStr::from_bytes(path)))
        .map_or_else(|_| path.to_vec(), |real| real.into_os_string().into_vec());
    Ok(Root { path: path.to_vec(), real, fd, dev })
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
