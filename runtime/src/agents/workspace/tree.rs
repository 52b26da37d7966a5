//! A whole workspace as one list of paths, and that list as git trees.

use std::collections::BTreeMap;
use std::io;

use super::objects::{Kind, Objects, Oid};

/// Deepest path that is kept, in parts; whatever lies below is left out.
pub const DEEPEST: usize = 128;

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A file.
    File,
    /// A file that its owner may execute.
    Executable,
    /// A symbolic link; the object holds its text.
    Link,
}

impl Mode {
    const fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    fn parse(octal: &[u8]) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link].into_iter().find(|mode| mode.octal().as_bytes() == octal)
    }
}

/// One path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// What it is.
    pub mode: Mode,
    /// Its content.
    pub oid: Oid,
}

/// Every path of a workspace, from its top, in the order of bytes.
pub type Manifest = BTreeMap<Vec<u8>, Entry>;

/// Keeps a manifest as trees and gives the topmost.
///
/// # Errors
/// The system's error.
pub fn write(objects: &Objects, manifest: &Manifest) -> io::Result<Oid> {
    let mut top = Directory::default();
    for (path, entry) in manifest {
        top.insert(path, *entry);
    }
    top.write(objects)
}

/// Reads a tree and all below it.
///
/// # Errors
/// An object is missing or broken, or the system's error.
pub fn read(objects: &Objects, tree: Oid) -> io::Result<Manifest> {
    let mut manifest = Manifest::new();
    let mut left = vec![(Vec::new(), tree, 0)];
    while let Some((prefix, tree, depth)) = left.pop() {
        let content = objects.get(Kind::Tree, tree)?;
        let mut rest = content.as_slice();
        while !rest.is_empty() {
            let (Record { octal, name, oid }, after) = record(rest).ok_or(io::ErrorKind::InvalidData)?;
            let path = [prefix.as_slice(), name].concat();
            match Mode::parse(octal) {
                Some(mode) => drop(manifest.insert(path, Entry { mode, oid })),
                None if octal == b"40000" && depth < DEEPEST => {
                    left.push(([path.as_slice(), b"/"].concat(), oid, depth + 1));
                }
                None => return Err(io::ErrorKind::InvalidData.into()),
            }
            rest = after;
        }
    }
    Ok(manifest)
}

/// One entry of a tree, as it is written.
struct Record<'t> {
    octal: &'t [u8],
    name: &'t [u8],
    oid: Oid,
}

/// `<mode> <name>\0<oid>` and what follows. A name that leads anywhere but down is none.
fn record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (octal, rest) = bytes.split_at_checked(memchr::memchr(b' ', bytes)?)?;
    let rest = rest.strip_prefix(b" ")?;
    let (name, rest) = rest.split_at_checked(memchr::memchr(0, rest)?)?;
    let (oid, rest) = rest.strip_prefix(b"\0")?.split_first_chunk::<32>()?;
    let plain = !matches!(name, b"" | b"." | b".." | b".git") && !name.contains(&b'/');
    plain.then_some((Record { octal, name, oid: Oid(*oid) }, rest))
}

#[derive(Debug, Default)]
struct Directory {
    files: BTreeMap<Vec<u8>, Entry>,
    below: BTreeMap<Vec<u8>, Directory>,
}

impl Directory {
    fn insert(&mut self, path: &[u8], entry: Entry) {
        match memchr::memchr(b'/', path).and_then(|cut| path.split_at_checked(cut)) {
            None => drop(self.files.insert(path.to_vec(), entry)),
            Some((name, rest)) => {
                let rest = rest.strip_prefix(b"/").unwrap_or(rest);
                self.below.entry(name.to_vec()).or_default().insert(rest, entry);
            }
        }
    }

    fn write(&self, objects: &Objects) -> io::Result<Oid> {
        // Git sorts a directory as if its name ended in a slash.
        let mut rows: BTreeMap<Vec<u8>, (&str, &[u8], Oid)> = BTreeMap::new();
        for (name, entry) in &self.files {
            rows.insert(name.clone(), (entry.mode.octal(), name, entry.oid));
        }
        for (name, below) in &self.below {
            let sorted = [name.as_slice(), b"/"].concat();
            rows.insert(sorted, ("40000", name, below.write(objects)?));
        }
        let mut content = Vec::new();
        for (octal, name, oid) in rows.values() {
            content.extend_from_slice(octal.as_bytes());
            content.push(b' ');
            content.extend_from_slice(name);
            content.push(0);
            content.extend_from_slice(&oid.0);
        }
        objects.put(Kind::Tree, &content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_manifest_comes_back_from_its_trees(
            paths in proptest::collection::btree_set("[ab.-]{1,3}x(/[ab.-]{1,3}x){0,4}", 0..24)
        ) {
            let dir = tempfile::tempdir().unwrap();
            let objects = Objects::open(dir.path().to_owned()).unwrap();
            let mut manifest = Manifest::new();
            for (at, path) in paths.iter().enumerate() {
                // What is a file cannot hold another.
                let clash = paths.iter().any(|other| other.starts_with(&format!("{path}/")));
                if !clash {
                    let mode = [Mode::File, Mode::Executable, Mode::Link][at % 3];
                    let oid = objects.put(Kind::Blob, path.as_bytes()).unwrap();
                    manifest.insert(path.clone().into_bytes(), Entry { mode, oid });
                }
            }
            let tree = write(&objects, &manifest).unwrap();
            prop_assert_eq!(read(&objects, tree).unwrap(), manifest);
        }
    }

    #[test]
    fn a_tree_that_leads_up_or_into_a_repository_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let objects = Objects::open(dir.path().to_owned()).unwrap();
        let blob = objects.put(Kind::Blob, b"x").unwrap();
        for name in ["..", ".", "", "a/b", ".git"] {
            let row = [b"100644 ", name.as_bytes(), b"\0", &blob.0].concat();
            let tree = objects.put(Kind::Tree, &row).unwrap();
            assert!(read(&objects, tree).is_err(), "{name}");
        }
    }
}
