//! Finding files by name or glob.

use super::hits::Smallest;
use super::pattern::Pattern;
use super::stat::Metadata;
use super::tree::{Found, Visitor, link_target, walk};
use super::{Access, End, FilesError};
use crate::guard::{Kind, NormalPath, Op, Symlinks};

/// Which kinds to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Everything.
    #[default]
    Any,
    /// Files, and links to files.
    File,
    /// Directories, and links to directories.
    Directory,
}

/// How to search.
#[derive(Debug)]
pub struct SearchOptions {
    /// What to look for.
    pub pattern: Pattern,
    /// Which kinds.
    pub wanted: Wanted,
    /// Most results, the first by path.
    pub limit: usize,
    /// Whether the answer needs metadata.
    pub metadata: bool,
}

/// One result. Ordered by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Path below the searched directory.
    pub relative: Vec<u8>,
    /// What it is, of what a link names.
    pub kind: Kind,
    /// Where it was asked for.
    pub metadata: Option<Metadata>,
}

/// What was found.
#[derive(Debug)]
pub struct Hits {
    /// The directory searched, links resolved.
    pub path: Vec<u8>,
    /// Sorted by path, as bytes.
    pub results: Vec<Hit>,
    /// More matched than was answered, or the time was up.
    pub truncated: bool,
    /// How the walk ended.
    pub end: End,
}

/// Searches below a directory.
///
/// # Errors
///
/// A refusal, not found, not a directory, or the system's error.
pub fn search(access: Access<'_>, path: &NormalPath, options: &SearchOptions) -> Result<Hits, FilesError> {
    let top = access.guard.tree(access.judge, path, Op::List).map_err(FilesError::from_guard)?;
    let path = top.path().to_vec();
    let make = || Searcher { access, options, hits: Smallest::new(options.limit), skipped: 0 };
    let (searchers, mut end) = walk(access, Op::List, top, usize::MAX, make)?;
    end.skipped += searchers.iter().map(|searcher| searcher.skipped).sum::<u64>();
    let all = searchers.into_iter().map(|searcher| searcher.hits).collect();
    let (results, truncated) = Smallest::merge(all, options.limit);
    Ok(Hits { path, results, truncated: truncated || end.timed_out, end })
}

struct Searcher<'a> {
    access: Access<'a>,
    options: &'a SearchOptions,
    hits: Smallest<Hit>,
    skipped: u64,
}

impl Visitor for Searcher<'_> {
    fn visit(&mut self, found: &Found<'_>) {
        if !self.options.pattern.matches(found.name, found.relative) {
            return;
        }
        let mut kind = found.kind;
        let mut metadata = None;
        if kind == Kind::Symlink {
            let target = match self.access.judge.symlinks() {
                Symlinks::Within => link_target(self.access, found, Op::List).ok(),
                Symlinks::Deny => None,
            };
            let Some(target) = target else {
                self.skipped += 1;
                return;
            };
            kind = target.kind();
            metadata = Some(Metadata::from(&target.stat));
        }
        let wanted = match self.options.wanted {
            Wanted::Any => true,
            Wanted::File => kind == Kind::File,
            Wanted::Directory => kind == Kind::Directory,
        };
        if !wanted {
            return;
        }
        if !self.hits.admits(|last| found.relative > last.relative.as_slice()) {
            return self.hits.pass_over();
        }
        if self.options.metadata && metadata.is_none() {
            let Ok(stat) = found.dir.stat(found.name) else { return };
            metadata = Some(Metadata::from(&stat));
        }
        self.hits.push(Hit { relative: found.relative.to_vec(), kind, metadata });
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.relative.cmp(&other.relative)
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
