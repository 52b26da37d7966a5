//! The tree that the guard is tested on, the canaries around it, and plain rules to judge by.

use runtime::files::{Access, FilesError, Stop};
use runtime::guard::{
    Guard, GuardError, GuardOptions, NormalPath, Op, PathJudge, Refusal, RefusalKind, Resolver, Symlinks,
    is_below,
};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// What stands in every file outside; it must never be in an answer.
pub(crate) const CANARY: &[u8] = b"canary-7d1f";

/// Rules of a test: one allowed tree, denied names at any depth, one read-only tree.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<u8>,
    pub(crate) deny: Vec<&'static [u8]>,
    pub(crate) read_only: Vec<u8>,
    pub(crate) symlinks: Symlinks,
}

impl PathJudge for Rules {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        let denied = |part: &[u8]| {
            let part = part.to_ascii_lowercase();
            self.deny.iter().any(|name| match name.strip_prefix(b"*") {
                Some(end) => part.ends_with(end),
                None => part == *name,
            })
        };
        if path.split(|byte| *byte == b'/').any(denied) {
            return Err(Refusal::own(RefusalKind::Denied));
        }
        if !is_below(&self.allow, path) {
            return Err(Refusal::own(RefusalKind::NotAllowed));
        }
        // Like a denial, whatever the case of its letters.
        let lower = path.to_ascii_lowercase();
        if op.changes() && is_below(&self.read_only.to_ascii_lowercase(), &lower) {
            return Err(Refusal::own(RefusalKind::ReadOnly));
        }
        Ok(())
    }

    fn symlinks(&self) -> Symlinks {
        self.symlinks
    }
}

/// A tree and its guard.
pub(crate) struct World {
    pub(crate) top: tempfile::TempDir,
    pub(crate) guard: Guard,
    pub(crate) rules: Rules,
    pub(crate) stop: Stop,
    before: Vec<Canary>,
}

/// All that is to be known of one entry outside the base.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Canary {
    path: PathBuf,
    content: Vec<u8>,
    inode: u64,
    mode: u32,
    links: u64,
    modified: (i64, i64),
}

impl World {
    pub(crate) fn new(resolver: Resolver, symlinks: Symlinks) -> Self {
        Self::within(Path::new("/tmp"), resolver, symlinks)
    }

    /// The same, made in `dir`.
    pub(crate) fn within(dir: &Path, resolver: Resolver, symlinks: Symlinks) -> Self {
        let top =
            tempfile::Builder::new().prefix("guard").tempdir_in(fs::canonicalize(dir).unwrap()).unwrap();
        outside(top.path());
        inside(top.path());
        Self::over(top, resolver, symlinks)
    }

    fn over(top: tempfile::TempDir, resolver: Resolver, symlinks: Symlinks) -> Self {
        let base = bytes(&top.path().join("base"));
        let options = GuardOptions {
            resolver,
            durable: false,
            sealed: vec![[&base[..], b"/audit.log"].concat()],
            ..GuardOptions::new(base.clone())
        };
        let rules = Rules {
            read_only: [&base[..], b"/ro"].concat(),
            allow: base,
            deny: vec![b".env", b".git", b"*.pem"],
            symlinks,
        };
        let before = canaries(top.path());
        Self { guard: Guard::open(options, None).unwrap(), top, rules, stop: Stop::default(), before }
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.top.path().join("base")
    }

    pub(crate) fn access(&self) -> Access<'_> {
        Access { guard: &self.guard, judge: &self.rules, stop: &self.stop }
    }

    pub(crate) fn path(&self, asked: impl AsRef<[u8]>) -> Result<NormalPath, GuardError> {
        NormalPath::new(self.guard.base_dir(), asked.as_ref())
    }

    /// Fails where anything outside is not as it was when the world was made.
    pub(crate) fn assert_outside_untouched(&self, what: &str) {
        assert_eq!(canaries(self.top.path()), self.before, "{what}");
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Every entry below `top` that is not in the base.
pub(crate) fn canaries(top: &Path) -> Vec<Canary> {
    let mut found = Vec::new();
    let mut left = vec![top.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if path == top.join("base") || path == top.join("moved-base") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                left.push(path.clone());
            }
            found.push(Canary {
                content: if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() },
                inode: meta.ino(),
                mode: meta.mode(),
                links: if meta.is_dir() { 0 } else { meta.nlink() },
                modified: (meta.mtime(), meta.mtime_nsec()),
                path,
            });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// What lies beside the base.
pub(crate) fn outside(top: &Path) {
    for dir in ["outside/dir/sub", "base2", "base.bak", "base-old"] {
        fs::create_dir_all(top.join(dir)).unwrap();
    }
    for file in [
        "outside/secret",
        "outside/a.txt",
        "outside/dir/sub/secret",
        "outside/dir/f.txt",
        "base2/s",
        "base.bak/s",
        "base-old/s",
    ] {
        fs::write(top.join(file), CANARY).unwrap();
    }
    symlink(top.join("base/a.txt"), top.join("outside/back")).unwrap();
    symlink(top.join("base"), top.join("outside/into")).unwrap();
}

/// What lies in the base.
pub(crate) fn inside(top: &Path) {
    let base = top.join("base");
    for dir in ["d/sub", "proj/.git", "proj/src", "ro/sub", "x.pem", "empty", ".ssh"] {
        fs::create_dir_all(base.join(dir)).unwrap();
    }
    for (file, content) in [
        ("a.txt", "inside a"),
        ("b.txt", "inside b"),
        ("d/f.txt", "inside f"),
        ("d/sub/deep.txt", "inside deep"),
        (".env", "denied"),
        ("d/.Env", "denied"),
        ("proj/.git/config", "denied"),
        ("proj/src/main.rs", "fn main() {}"),
        ("ro/f.txt", "kept"),
        ("ro/sub/g.txt", "kept"),
        ("key.pem", "denied"),
        (".pem", "denied"),
        ("x.pem/child", "denied"),
        (".ssh/id", "inside"),
        ("audit.log", "sealed"),
        ("sp ace", "inside"),
        ("new\nline", "inside"),
        ("报告 final.txt", "inside"),
        ("~", "inside"),
        ("%2e%2e", "inside"),
    ] {
        fs::write(base.join(file), content).unwrap();
    }
    fs::write(base.join(OsStr::from_bytes(b"bad-\xff")), "inside").unwrap();
    fs::set_permissions(base.join("b.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let at = |text: &str| top.join(text);
    for (link, target) in [
        ("l_file", PathBuf::from("a.txt")),
        ("l_dir", PathBuf::from("d")),
        ("l_abs_file", at("base/a.txt")),
        ("l_abs_dir", at("base/d")),
        ("l_abs_dots", at("base/../base/./d//f.txt")),
        ("l_out_dir", at("outside")),
        ("l_out_file", at("outside/secret")),
        ("l_rel_out", PathBuf::from("../outside")),
        ("l_rel_back", PathBuf::from("../base/a.txt")),
        ("l_chain", PathBuf::from("l_chain2")),
        ("l_chain2", PathBuf::from("l_out_dir")),
        ("l_chain_in", PathBuf::from("l_dir/../l_file")),
        ("l_leave_and_return", at("outside/back")),
        ("l_through_outside", PathBuf::from("l_out_dir/into/a.txt")),
        ("l_loop", PathBuf::from("l_loop")),
        ("l_loop_a", PathBuf::from("l_loop_b")),
        ("l_loop_b", PathBuf::from("l_loop_a")),
        ("l_dangling", PathBuf::from("nowhere")),
        ("l_dangling_out", at("outside/nothing")),
        ("l_denied", PathBuf::from(".env")),
        ("l_git", PathBuf::from("proj/.git")),
        ("l_ro", PathBuf::from("ro")),
        ("l_root", PathBuf::from("/")),
        ("l_base", PathBuf::from(".")),
        ("l_base_abs", at("base")),
        ("l_up", PathBuf::from("..")),
        ("l_proc", PathBuf::from("/proc/self/environ")),
        ("l_self_fd", PathBuf::from("/proc/self/cwd")),
        ("l_dev", PathBuf::from("/dev/null")),
        ("l_sibling", at("base2/s")),
        ("l_sealed", PathBuf::from("audit.log")),
        ("l_fifo", PathBuf::from("fifo")),
        ("d/l_up", PathBuf::from("../a.txt")),
        ("d/l_up_out", PathBuf::from("../../outside/secret")),
        ("d/l_self", PathBuf::from(".")),
        ("ro/l_out", PathBuf::from("../d")),
    ] {
        symlink(target, base.join(link)).unwrap();
    }
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, base.join("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    drop(std::os::unix::net::UnixListener::bind(base.join("sock")).unwrap());
    // Only root may make a device; without it the rows say that nothing is there.
    let null = rustix::fs::makedev(1, 3);
    let _ = rustix::fs::mknodat(
        rustix::fs::CWD,
        base.join("null"),
        rustix::fs::FileType::CharacterDevice,
        mode,
        null,
    );
}

/// How an outcome is written in a table.
pub(crate) fn word(outcome: &Result<(), FilesError>) -> String {
    let word = match outcome {
        Ok(()) => "ok",
        Err(FilesError::Guard(error)) => match error {
            GuardError::Refused(refusal) => match refusal.kind {
                RefusalKind::NotAllowed => "not-allowed",
                RefusalKind::Denied => "denied",
                RefusalKind::ReadOnly => "read-only",
                RefusalKind::Symlink => "symlink",
                RefusalKind::Extension => "extension",
            },
            GuardError::InvalidPath(_) => "invalid",
            GuardError::NotFound => "absent",
            GuardError::NotADirectory => "no-dir",
            GuardError::NotARegularFile => "no-file",
            GuardError::IsRoot => "base",
            GuardError::Io(errno) => return format!("{errno:?}"),
        },
        Err(FilesError::AlreadyExists) => "exists",
        Err(FilesError::Conflict(_)) => "conflict",
        Err(other) => return format!("{other:?}"),
    };
    word.to_owned()
}
