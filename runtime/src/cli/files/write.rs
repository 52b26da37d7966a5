//! Files that a command writes: whole or not at all, and where there is no file to put something in the place of, in place.

use super::STDIN;
use rustix::io::Errno;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Links that lead to links: as many as the kernel follows.
const LINKS: usize = 40;

/// Writes a file. What is written stands beside it until it is complete; links are followed, and the permissions of a file
/// that was there stay. What is no regular file, such as a pipe or a device, is written to as it is.
///
/// # Errors
/// Where the name leads nowhere, or what it leads to cannot be written.
pub(in crate::cli) fn put(path: &str, bytes: &[u8]) -> Result<()> {
    let Some(target) = lead(Path::new(path))? else { return pour(Path::new(path), bytes) };
    match fs::metadata(&target) {
        Ok(found) if found.is_file() => replace(&target, bytes, Some(found.permissions())),
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => pour(&target, bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => replace(&target, bytes, None),
        Err(error) => Err(error),
    }
}

/// Which of these files, as inputs name them, writing to `path` would write over.
pub(in crate::cli) fn overwrites<'a>(
    path: &str,
    mut inputs: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let own = fs::metadata(path).ok().as_ref().and_then(identity)?;
    inputs.find(|name| metadata(name).ok().as_ref().and_then(identity) == Some(own))
}

fn metadata(input: &str) -> Result<Metadata> {
    if input == STDIN {
        return File::from(std::io::stdin().as_fd().try_clone_to_owned()?).metadata();
    }
    fs::metadata(input)
}

fn identity(file: &Metadata) -> Option<(u64, u64)> {
    file.is_file().then(|| (file.dev(), file.ino()))
}

/// Where a name leads, link after link; `None` for an open file of a process (`/dev/stdout`, `/dev/fd/3`), which has no
/// name that something else could be put under.
fn lead(path: &Path) -> Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if fs::canonicalize(folder)?.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(Error::from(Errno::LOOP))
}

/// Appends, which to a pipe or a device is to write, and to an open file is to go on.
fn pour(path: &Path, bytes: &[u8]) -> Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(bytes)
}

fn replace(target: &Path, bytes: &[u8], permissions: Option<Permissions>) -> Result<()> {
    let name = target.file_name().ok_or(ErrorKind::IsADirectory)?.to_string_lossy();
    let beside = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = fill(&beside, bytes, permissions).and_then(|()| fs::rename(&beside, target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}
