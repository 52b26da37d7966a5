//! Finding literal text in files, line by line.

mod scan;

use self::scan::Scan;
use super::hits::Smallest;
use super::pattern::Pattern;
use super::tree::{Found, Visitor, walk};
use super::{Access, End, FilesError};
use crate::guard::{Kind, NormalPath, Op};
use memchr::memmem::Finder;
use std::cmp::Ordering;

/// Longest text to look for.
pub const MAX_NEEDLE: usize = 1024;

/// How to search.
#[derive(Debug)]
pub struct GrepOptions {
    /// The text, without a line break.
    pub needle: Vec<u8>,
    /// Which files, by name or by path; all where absent.
    pub files: Option<Pattern>,
    /// Most matching lines to answer, the first by path and line.
    pub limit: usize,
    /// Most bytes of text to answer.
    pub max_bytes: u64,
}

/// A matching line. Ordered by path, then line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Path below the searched directory.
    pub relative: Vec<u8>,
    /// Counted from 1.
    pub line: u64,
    /// The line without its end, cut at 4 KiB.
    pub text: Vec<u8>,
}

/// What was found.
#[derive(Debug)]
pub struct Lines {
    /// The directory searched, links resolved.
    pub path: Vec<u8>,
    /// Sorted by path, then line.
    pub matches: Vec<Line>,
    /// More matched than was answered, or the time was up.
    pub truncated: bool,
    /// How the walk ended.
    pub end: End,
}

/// Searches the regular files below a directory. Links are not followed and binary files are skipped.
///
/// # Errors
///
/// A refusal, not found, not a directory, a text that is empty, too long or of several lines.
pub fn grep(access: Access<'_>, path: &NormalPath, options: &GrepOptions) -> Result<Lines, FilesError> {
    match options.needle.as_slice() {
        [] => return Err(FilesError::BadPattern("the text is empty")),
        needle if needle.len() > MAX_NEEDLE => return Err(FilesError::BadPattern("the text is too long")),
        needle if memchr::memchr(b'\n', needle).is_some() => {
            return Err(FilesError::BadPattern("the text spans several lines"));
        }
        _ => {}
    }
    let top = access.guard.tree(access.judge, path, Op::Read).map_err(FilesError::from_guard)?;
    let path = top.path().to_vec();
    let finder = Finder::new(&options.needle);
    let make = || Grepper {
        options,
        scan: Scan::new(&finder, access.stop),
        hits: Smallest::new(options.limit),
        cut: false,
    };
    let (greppers, mut end) = walk(access, Op::Read, top, usize::MAX, make)?;
    end.timed_out |= greppers.iter().any(|grepper| grepper.cut);
    let all = greppers.into_iter().map(|grepper| grepper.hits).collect();
    let (mut matches, mut truncated) = Smallest::merge(all, options.limit);
    let mut bytes = 0;
    let fit = matches.iter().take_while(|hit| {
        bytes += hit.relative.len() as u64 + hit.text.len() as u64;
        bytes <= options.max_bytes
    });
    let fit = fit.count();
    truncated |= fit < matches.len();
    matches.truncate(fit);
    Ok(Lines { path, matches, truncated: truncated || end.timed_out, end })
}

struct Grepper<'a> {
    options: &'a GrepOptions,
    scan: Scan<'a>,
    hits: Smallest<Line>,
    cut: bool,
}

impl Visitor for Grepper<'_> {
    fn visit(&mut self, found: &Found<'_>) {
        if found.kind != Kind::File
            || self.options.files.as_ref().is_some_and(|files| !files.matches(found.name, found.relative))
        {
            return;
        }
        if !self.hits.admits(|last| found.relative > last.relative.as_slice()) {
            // Whether this file matches is not known; the answer is cut either way.
            return self.hits.pass_over();
        }
        let Ok((fd, _)) = found.dir.open_file(found.name) else { return };
        let hits = &mut self.hits;
        let done = self.scan.lines(&fd, |line, text| {
            hits.push(Line { relative: found.relative.to_vec(), line, text: text.to_vec() });
        });
        self.cut |= matches!(done, Err(FilesError::TimedOut | FilesError::Cancelled));
    }
}

impl Ord for Line {
    fn cmp(&self, other: &Self) -> Ordering {
        self.relative.cmp(&other.relative).then(self.line.cmp(&other.line))
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
