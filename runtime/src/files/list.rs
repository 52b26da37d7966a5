//! Listing a directory.

use super::hits::Smallest;
use super::stat::Metadata;
use super::tree::{Found, Visitor, link_target, walk};
use super::{Access, End, FilesError};
use crate::guard::{GuardError, Kind, NormalPath, Op, Symlinks};

/// How to list.
#[derive(Debug, Clone, Copy)]
pub struct ListOptions {
    /// How deep; 1 is the directory alone.
    pub max_depth: usize,
    /// Most entries to answer, the first by path.
    pub limit: usize,
}

/// One entry. Ordered by its path below the listed directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path below the listed directory; for a flat listing the name.
    pub relative: Vec<u8>,
    /// Of what a link names, where it is one that leads somewhere.
    pub metadata: Metadata,
    /// Whether the entry is a link.
    pub link: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Listing {
    /// The directory, links resolved.
    pub path: Vec<u8>,
    /// Sorted by path, as bytes.
    pub entries: Vec<Entry>,
    /// More lies there than was answered.
    pub truncated: bool,
    /// How the walk ended.
    pub end: End,
}

/// Lists a directory. Entries that the rules refuse are left out, and so are links that lead to what they refuse; a
/// link that leads nowhere is listed as itself.
///
/// # Errors
///
/// A refusal, not found, not a directory, or the system's error.
pub fn list(access: Access<'_>, path: &NormalPath, options: ListOptions) -> Result<Listing, FilesError> {
    let top = access.guard.tree(access.judge, path, Op::List).map_err(FilesError::from_guard)?;
    let path = top.path().to_vec();
    let make = || Lister { access, hits: Smallest::new(options.limit), skipped: 0 };
    let (listers, mut end) = walk(access, Op::List, top, options.max_depth, make)?;
    end.skipped += listers.iter().map(|lister| lister.skipped).sum::<u64>();
    let (entries, truncated) =
        Smallest::merge(listers.into_iter().map(|one| one.hits).collect(), options.limit);
    Ok(Listing { path, entries, truncated: truncated || end.timed_out, end })
}

struct Lister<'a> {
    access: Access<'a>,
    hits: Smallest<Entry>,
    skipped: u64,
}

impl Visitor for Lister<'_> {
    fn visit(&mut self, found: &Found<'_>) {
        if !self.hits.admits(|last| found.relative > last.relative.as_slice()) {
            return self.hits.pass_over();
        }
        let link = found.kind == Kind::Symlink;
        let metadata = match (link, self.access.judge.symlinks()) {
            (true, Symlinks::Deny) => {
                self.skipped += 1;
                return;
            }
            (true, Symlinks::Within) => match link_target(self.access, found, Op::List) {
                Ok(target) => Some(Metadata::from(&target.stat)),
                Err(GuardError::NotFound) => found.dir.stat(found.name).ok().as_ref().map(Metadata::from),
                Err(_) => {
                    self.skipped += 1;
                    return;
                }
            },
            (false, _) => found.dir.stat(found.name).ok().as_ref().map(Metadata::from),
        };
        if let Some(metadata) = metadata {
            self.hits.push(Entry { relative: found.relative.to_vec(), metadata, link });
        }
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.relative.cmp(&other.relative)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
