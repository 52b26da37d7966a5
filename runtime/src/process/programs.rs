//! Finds the file that a command names and opens it, so that what is judged is what is executed.
//!
//! Bare names are looked up in the directories of the server's own `PATH`, fixed at start: neither a request's `env`
//! nor its `cwd` can change which file a name means.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// The directories of the server's `PATH`.
#[derive(Debug, Clone)]
pub struct Programs {
    directories: Vec<PathBuf>,
}

/// A program that is open and ready to be judged and executed.
#[derive(Debug)]
pub struct Program {
    /// The file, links resolved.
    path: PathBuf,
    /// The file as found: its directory's links resolved, its own name as it was looked up.
    found: PathBuf,
    file: OwnedFd,
    script: bool,
}

/// Why no program was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No such file, in `PATH` or at the path.
    #[error("command not found: `{0}`")]
    NotFound(String),
    /// There is such a file, but it is a directory or nobody may execute it.
    #[error("command is not executable: `{0}`")]
    NotExecutable(String),
    /// Too many files are open.
    #[error("the program cannot be opened now")]
    Unavailable,
}

impl Programs {
    /// Takes the directories from the value of a `PATH` variable. Relative entries are left out: they would make a
    /// name depend on a directory.
    #[must_use]
    pub fn from_path(path: &OsStr) -> Self {
        Self { directories: std::env::split_paths(path).filter(|d| d.is_absolute()).collect() }
    }

    /// Opens the program that `name` means. A name with a `/` is a path, relative to `cwd`; any other is looked up.
    ///
    /// # Errors
    /// See [`FindError`]. The texts hold nothing but the name.
    pub fn find(&self, name: &str, cwd: BorrowedFd<'_>) -> Result<Program, FindError> {
        if name.is_empty() || name.contains('\0') {
            return Err(FindError::NotFound(name.to_owned()));
        }
        if name.contains('/') {
            return open(cwd, Path::new(name)).map_err(|e| refusal(e, name));
        }
        let mut worst = Errno::NOENT;
        for directory in &self.directories {
            match open(rustix::fs::CWD, &directory.join(name)) {
                Ok(program) => return Ok(program),
                // A file that may not be executed hides none further on, but makes the better message.
                Err(Errno::ACCESS) => worst = Errno::ACCESS,
                Err(e @ (Errno::MFILE | Errno::NFILE)) => return Err(refusal(e, name)),
                Err(_) => {}
            }
        }
        Err(refusal(worst, name))
    }

    /// The path that a bare name has now, links resolved.
    #[must_use]
    pub fn locate(&self, name: &str) -> Option<PathBuf> {
        self.find(name, rustix::fs::CWD).ok().map(|program| program.path)
    }
}

impl Program {
    /// The file, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file as found: links in its directory resolved, its own name as it was looked up.
    #[must_use]
    pub fn found(&self) -> &Path {
        &self.found
    }

    /// Whether an interpreter will open the file by its name.
    pub(super) fn is_script(&self) -> bool {
        self.script
    }

    /// The open file.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The path for the kernel, if it still names the file that was judged. An interpreter opens its script by name,
    /// so a handle is of no use there and this check is the best there is.
    pub(super) fn same_path(&self) -> Option<CString> {
        let judged = rustix::fs::fstat(&self.file).ok()?;
        let now = rustix::fs::stat(&self.path).ok()?;
        let same = (judged.st_dev, judged.st_ino) == (now.st_dev, now.st_ino);
        if same { CString::new(self.path.as_os_str().as_bytes()).ok() } else { None }
    }
}

/// The message for an error number.
fn refusal(errno: Errno, name: &str) -> FindError {
    match errno {
        Errno::ACCESS | Errno::PERM | Errno::ISDIR => FindError::NotExecutable(name.to_owned()),
        Errno::MFILE | Errno::NFILE => FindError::Unavailable,
        _ => FindError::NotFound(name.to_owned()),
    }
}

/// Opens a regular file that somebody may execute.
fn open(directory: BorrowedFd<'_>, path: &Path) -> Result<Program, Errno> {
    // Without NONBLOCK a FIFO of that name would hold the server.
    let flags = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let (file, readable) = match rustix::fs::openat(directory, path, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(file) => (file, true),
        // A file may be executable without being readable.
        Err(Errno::ACCESS) => {
            (rustix::fs::openat(directory, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?, false)
        }
        Err(e) => return Err(e),
    };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_mode & 0o111 == 0 {
        return Err(Errno::ACCESS);
    }
    let mut head = [0_u8; 2];
    let script = readable && rustix::io::pread(&file, &mut head, 0) == Ok(2) && head == *b"#!";
    let resolved = path_of(&file)?;
    // A path without links leads through a directory without links.
    let straight = resolved.as_path() == path;
    let found = if straight { None } else { found_at(directory, path) }.unwrap_or_else(|| resolved.clone());
    Ok(Program { path: resolved, found, file, script })
}

/// Where a file stands, by the real path of its directory.
fn found_at(directory: BorrowedFd<'_>, path: &Path) -> Option<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = rustix::fs::openat(directory, parent, flags, Mode::empty()).ok()?;
    Some(path_of(&parent).ok()?.join(path.file_name()?))
}

/// The path of an open file as the kernel knows it.
fn path_of(file: &OwnedFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?.into_bytes();
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn script(directory: &Path, name: &str, mode: u32) {
        std::fs::write(directory.join(name), "#!/bin/sh\necho\n").unwrap();
        std::fs::set_permissions(directory.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_bare_name_means_the_first_executable_in_the_path_and_never_the_working_directory() {
        let (first, second, cwd) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        script(first.path(), "tool", 0o644);
        script(second.path(), "tool", 0o755);
        script(cwd.path(), "tool", 0o755);
        script(cwd.path(), "local", 0o755);
        std::fs::create_dir(first.path().join("folder")).unwrap();
        symlink(second.path().join("tool"), first.path().join("alias")).unwrap();
        let path =
            std::env::join_paths([first.path(), second.path(), Path::new("."), Path::new("")]).unwrap();
        let programs = Programs::from_path(&path);
        let here = std::fs::File::open(cwd.path()).unwrap();

        let found = |name: &str| programs.find(name, here.as_fd()).map(|p| p.path);
        let real = second.path().canonicalize().unwrap().join("tool");
        assert_eq!(found("tool"), Ok(real.clone()));
        assert_eq!(found("alias"), Ok(real), "links are resolved");
        assert_eq!(found("local"), Err(FindError::NotFound("local".to_owned())));
        assert_eq!(found("folder"), Err(FindError::NotExecutable("folder".to_owned())));
        assert_eq!(found("./local"), Ok(cwd.path().canonicalize().unwrap().join("local")));
        assert_eq!(found(""), Err(FindError::NotFound(String::new())));
        assert_eq!(found("a\0b"), Err(FindError::NotFound("a\0b".to_owned())));
    }
}
