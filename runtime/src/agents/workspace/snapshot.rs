//! Takes a snapshot of a workspace: every file that belongs to it becomes an object, and all together a tree.

use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{FileType, readlinkat};

use super::index::{Index, Mark};
use super::objects::{Kind, Objects, Oid};
use super::tree::{self, Entry, Manifest, Mode};
use super::walk::{Found, Skipped, Walk};
use crate::files::{Access, FilesError};
use crate::guard::{NormalPath, Op};

/// Largest file that is kept, in bytes. Larger ones are results, not sources, and would fill the store turn by turn.
const LARGEST_FILE: u64 = 32 << 20;

/// How much a workspace may hold.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Files and links.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A snapshot.
#[derive(Debug)]
pub struct Snapshot {
    /// The topmost tree.
    pub tree: Oid,
    /// Every path in it.
    pub manifest: Manifest,
    /// Bytes of all files.
    pub bytes: u64,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The workspace holds more than may be kept.
    #[error("the workspace is too large")]
    TooLarge {
        /// Files counted until then.
        files: u64,
        /// Bytes counted until then.
        bytes: u64,
        /// The caps.
        limit: Caps,
    },
    /// The workspace cannot be walked.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The store cannot be written.
    #[error("the checkpoint store cannot be used: {0}")]
    Store(#[from] std::io::Error),
}

/// Takes a snapshot of the directory `root`. `named` are paths that take part although they are ignored.
///
/// # Errors
/// See [`SnapshotError`]. Nothing of the workspace is ever changed.
pub fn take(
    access: Access<'_>,
    objects: &Objects,
    root: &Path,
    named: &[Vec<u8>],
    caps: Caps,
) -> Result<Snapshot, SnapshotError> {
    let path = NormalPath::new(b"/", root.as_os_str().as_bytes()).map_err(FilesError::from_guard)?;
    let top = access.guard.tree(access.judge, &path, Op::Read).map_err(FilesError::from_guard)?;
    // Not `index`: that name is for git's own.
    let place = objects.root().join("seen");
    let index = Index::load(&place);
    let walk = Walk { access, index: &index, named };
    count(&walk, &top, caps)?;
    let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let began = i128::try_from(began).unwrap_or(i128::MAX);
    let (mut next, mut manifest, mut skipped, mut bytes) = (Index::default(), Manifest::new(), Vec::new(), 0);
    let mut broken = None;
    let walked = walk.run(&top, &mut skipped, &mut |found| {
        let mark = Mark::of(found.stat);
        let Some(mode) = mode_of(found) else { return Ok(None) };
        let kept = index.unchanged(found.relative, mark).map(|oid| Ok(Some(oid)));
        match kept.unwrap_or_else(|| keep(objects, found, mode)) {
            Ok(Some(oid)) => {
                bytes += size_of(found);
                next.insert(found.relative, mark, oid, began);
                manifest.insert(found.relative.to_vec(), Entry { mode, oid });
                Ok(None)
            }
            Ok(None) if size_of(found) > LARGEST_FILE => Ok(Some("too_large")),
            Ok(None) => Ok(Some("unreadable")),
            Err(error) => {
                broken = Some(error);
                Err(FilesError::Cancelled)
            }
        }
    });
    if let Some(error) = broken {
        return Err(error.into());
    }
    walked?;
    let tree = tree::write(objects, &manifest)?;
    if access.guard.is_durable() {
        objects.sync()?;
    }
    next.save(&place)?;
    Ok(Snapshot { tree, manifest, bytes, skipped })
}

/// Counts before anything is read, so that a workspace that is too large costs a listing and no more.
fn count(walk: &Walk<'_>, top: &crate::guard::Dir, caps: Caps) -> Result<(), SnapshotError> {
    let (mut files, mut bytes) = (0, 0);
    let counted = walk.run(top, &mut Vec::new(), &mut |found| {
        if size_of(found) <= LARGEST_FILE {
            (files, bytes) = (files + 1, bytes + size_of(found));
        }
        if files > caps.files || bytes > caps.bytes { Err(FilesError::Cancelled) } else { Ok(None) }
    });
    match counted {
        Err(FilesError::Cancelled) if files > caps.files || bytes > caps.bytes => {
            Err(SnapshotError::TooLarge { files, bytes, limit: caps })
        }
        counted => Ok(counted?),
    }
}

fn size_of(found: &Found<'_>) -> u64 {
    u64::try_from(found.stat.st_size).unwrap_or_default()
}

fn mode_of(found: &Found<'_>) -> Option<Mode> {
    match FileType::from_raw_mode(found.stat.st_mode) {
        FileType::Symlink => Some(Mode::Link),
        FileType::RegularFile if found.stat.st_mode & 0o100 != 0 => Some(Mode::Executable),
        FileType::RegularFile => Some(Mode::File),
        _ => None,
    }
}

/// Keeps one file; none where it cannot be read or is too large.
fn keep(objects: &Objects, found: &Found<'_>, mode: Mode) -> std::io::Result<Option<Oid>> {
    if mode == Mode::Link {
        let Ok(text) = readlinkat(found.dir.fd(), found.name, Vec::new()) else { return Ok(None) };
        return objects.put(Kind::Blob, text.as_bytes()).map(Some);
    }
    let Ok((file, _)) = found.dir.open_file(found.name) else { return Ok(None) };
    let mut content = Vec::new();
    let read = std::fs::File::from(file).take(LARGEST_FILE + 1).read_to_end(&mut content);
    if read.is_err() || content.len() as u64 > LARGEST_FILE {
        return Ok(None);
    }
    objects.put(Kind::Blob, &content).map(Some)
}
