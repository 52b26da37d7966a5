//! What the last snapshot of a workspace saw of each file, so that the next one reads only what has changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::Stat;

use super::objects::Oid;

/// A clock of the file system may lag this far behind ours, in nanoseconds.
const CLOCK: i128 = 50_000_000;

/// What tells that a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    size: i64,
    mtime: i128,
    ctime: i128,
    ino: u64,
    mode: u32,
}

impl Mark {
    /// Of a file as it is now.
    #[must_use]
    pub(super) fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanos: i128| i128::from(seconds) * 1_000_000_000 + nanos;
        #[expect(clippy::useless_conversion, reason = "the width differs between platforms")]
        Self {
            size: stat.st_size.into(),
            mtime: time(stat.st_mtime, stat.st_mtime_nsec.into()),
            ctime: time(stat.st_ctime, stat.st_ctime_nsec.into()),
            ino: stat.st_ino.into(),
            mode: stat.st_mode.into(),
        }
    }
}

/// The paths of the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<Vec<u8>, Seen>);

/// A path as it was seen; without a mark where that could not be trusted.
type Seen = (Option<Mark>, Oid);

impl Index {
    /// Reads an index. One that is missing or broken is empty: everything is read anew then.
    #[must_use]
    pub(super) fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        let rows = bytes.split(|byte| *byte == 0).filter(|row| !row.is_empty()).map(row);
        Self(rows.collect::<Option<_>>().unwrap_or_default())
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (path, (mark, oid)) in &self.0 {
            let mark = mark.map_or_else(
                || "-".to_owned(),
                |mark| format!("{}:{}:{}:{}:{}", mark.size, mark.mtime, mark.ctime, mark.ino, mark.mode),
            );
            bytes.extend_from_slice(format!("{oid} {mark} ").as_bytes());
            bytes.extend_from_slice(path);
            bytes.push(0);
        }
        let temporary = path.with_extension("new");
        fs::write(&temporary, bytes)?;
        fs::rename(&temporary, path)
    }

    /// Remembers a file. `began` is when the snapshot began, in nanoseconds: a file that changed since may change again
    /// without its times telling.
    pub(super) fn insert(&mut self, path: &[u8], mark: Mark, oid: Oid, began: i128) {
        let settled = mark.mtime.max(mark.ctime) + CLOCK < began;
        self.0.insert(path.to_vec(), (settled.then_some(mark), oid));
    }

    /// The content of a file that is as it was.
    #[must_use]
    pub(super) fn unchanged(&self, path: &[u8], mark: Mark) -> Option<Oid> {
        self.0.get(path).filter(|(seen, _)| *seen == Some(mark)).map(|(_, oid)| *oid)
    }

    /// Whether the last snapshot held this path.
    #[must_use]
    pub(super) fn holds(&self, path: &[u8]) -> bool {
        self.0.contains_key(path)
    }

    /// Whether the last snapshot held anything below this directory.
    #[must_use]
    pub(super) fn holds_below(&self, directory: &[u8]) -> bool {
        let prefix = [directory, b"/"].concat();
        self.0.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }
}

fn row(bytes: &[u8]) -> Option<(Vec<u8>, Seen)> {
    let mut parts = bytes.splitn(3, |byte| *byte == b' ');
    let oid = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let mark = std::str::from_utf8(parts.next()?).ok()?;
    let path = parts.next()?.to_vec();
    if mark == "-" {
        return Some((path, (None, oid)));
    }
    let mut numbers = mark.split(':');
    let mark = Mark {
        size: numbers.next()?.parse().ok()?,
        mtime: numbers.next()?.parse().ok()?,
        ctime: numbers.next()?.parse().ok()?,
        ino: numbers.next()?.parse().ok()?,
        mode: numbers.next()?.parse().ok()?,
    };
    Some((path, (Some(mark), oid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_comes_back_and_a_file_that_just_changed_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        let mark = Mark::of(&rustix::fs::stat(&file).unwrap());
        let oid: Oid = "ab".repeat(32).parse().unwrap();
        let mut index = Index::default();
        index.insert(b"old \xff name", mark, oid, mark.ctime + 2 * CLOCK);
        index.insert(b"dir/new", mark, oid, mark.ctime);
        let place = dir.path().join("index");
        index.save(&place).unwrap();
        let index = Index::load(&place);
        assert_eq!(index.unchanged(b"old \xff name", mark), Some(oid));
        assert_eq!(index.unchanged(b"dir/new", mark), None);
        assert!(index.holds(b"dir/new") && index.holds_below(b"dir") && !index.holds_below(b"di"));
        fs::write(&place, "no index at all").unwrap();
        assert!(!Index::load(&place).holds(b"dir/new"));
    }
}
