//! The objects of a shadow store, in git's own format with SHA-256 names, so that git can compare what is in there.
//!
//! They are written here and not by git: content comes from handles that the guard has opened, byte by byte as it is,
//! and no attribute, filter or hook of the workspace has a say. A name is the digest of the content; reading checks it.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest as _, Sha256};

/// Largest object that is read back, in bytes: the largest file that is kept, and some room for a tree.
const LARGEST: u64 = 64 << 20;

/// From so many new objects on, the whole file system is synced once instead of each of them.
const MANY: usize = 200;

/// Says what kind of repository this is. Nothing else is set: the calls of git bring their settings along.
const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n";

/// The name of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(pub(super) [u8; 32]);

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Oid {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(());
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| ())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| ())?;
        }
        Ok(Self(bytes))
    }
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The content of a file, or the text of a link.
    Blob,
    /// A directory.
    Tree,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
        }
    }
}

/// A shadow store: a bare repository of its own. Its files may be read, for git may run as another user, who is given a
/// handle on the folder; the folder above lets nobody pass.
#[derive(Debug, Clone)]
pub struct Objects {
    root: PathBuf,
    /// What was put and may not be on disk yet.
    fresh: Arc<Mutex<Vec<PathBuf>>>,
}

impl Objects {
    /// Opens the store in the folder `root`, making it where it is missing.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(root: PathBuf) -> io::Result<Self> {
        if !root.join("HEAD").exists() {
            let mut folders = fs::DirBuilder::new();
            folders.recursive(true).mode(0o755);
            for folder in ["objects", "refs"] {
                folders.create(root.join(folder))?;
            }
            fs::write(root.join("config"), CONFIG)?;
            // What git takes for the sign of a repository comes last.
            fs::write(root.join("HEAD"), "ref: refs/heads/none\n")?;
        }
        Ok(Self { root, fresh: Arc::default() })
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps an object; one that is there already is left as it is.
    ///
    /// # Errors
    /// The system's error.
    pub fn put(&self, kind: Kind, content: &[u8]) -> io::Result<Oid> {
        let head = format!("{} {}\0", kind.word(), content.len());
        let mut digest = Sha256::new();
        digest.update(head.as_bytes());
        digest.update(content);
        let oid = Oid(digest.finalize().into());
        let path = self.path(oid);
        if path.exists() {
            return Ok(oid);
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
        let temporary = folder.join(format!("tmp_obj_{}", uuid::Uuid::new_v4().simple()));
        let written =
            write(&temporary, &[head.as_bytes(), content]).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // A second failure changes nothing about the first.
            let _ = fs::remove_file(&temporary);
        }
        written?;
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(oid)
    }

    /// The content of an object.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`], [`io::ErrorKind::InvalidData`] where it is not what its name says, or the system's.
    pub fn get(&self, kind: Kind, oid: Oid) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        ZlibDecoder::new(fs::File::open(self.path(oid))?).take(LARGEST).read_to_end(&mut whole)?;
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        if Sha256::digest(&whole).as_slice() != oid.0 {
            return Err(broken());
        }
        let head = memchr::memchr(0, &whole).ok_or_else(broken)?;
        let content = whole.split_off(head + 1);
        if whole != format!("{} {}\0", kind.word(), content.len()).as_bytes() {
            return Err(broken());
        }
        Ok(content)
    }

    /// Makes everything that was put survive a power cut.
    ///
    /// # Errors
    /// The system's error.
    pub fn sync(&self) -> io::Result<()> {
        let fresh = std::mem::take(&mut *self.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        if fresh.len() > MANY {
            return Ok(rustix::fs::syncfs(fs::File::open(&self.root)?)?);
        }
        let folders: BTreeSet<&Path> = fresh.iter().filter_map(|path| path.parent()).collect();
        for path in
            fresh.iter().map(PathBuf::as_path).chain(folders).chain([self.root.join("objects").as_path()])
        {
            fs::File::open(path)?.sync_all()?;
        }
        Ok(())
    }

    fn path(&self, oid: Oid) -> PathBuf {
        let name = oid.to_string();
        let (folder, file) = name.split_at(2);
        self.root.join("objects").join(folder).join(file)
    }
}

fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?;
    let mut encoder = ZlibEncoder::new(io::BufWriter::new(file), Compression::fast());
    for part in parts {
        encoder.write_all(part)?;
    }
    encoder.finish()?.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_what_is_got_and_a_flipped_byte_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let objects = Objects::open(dir.path().join("shadow")).unwrap();
        let oid = objects.put(Kind::Blob, b"hello\n").unwrap();
        // As `git hash-object` names it in a repository of that format.
        assert_eq!(oid.to_string(), "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4");
        assert_eq!(oid.to_string().parse(), Ok(oid));
        assert_eq!(objects.get(Kind::Blob, oid).unwrap(), b"hello\n");
        assert!(objects.get(Kind::Tree, oid).is_err(), "it is no tree");
        let path = objects.path(oid);
        let mut bytes = fs::read(&path).unwrap();
        bytes[4] ^= 1;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        assert!(objects.get(Kind::Blob, oid).is_err());
    }
}
