//! Which files a workspace says are none of its own: `.gitignore` files, read as git reads them.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::guard::Dir;

/// Largest `.gitignore` that is heeded, in bytes.
const LARGEST: u64 = 1 << 20;

/// The rules on the way from the top down to one directory.
#[derive(Debug, Default)]
pub(super) struct Ignored(Vec<Level>);

#[derive(Debug)]
struct Level {
    /// Length of the directory's own path with its slash: what is cut off before its rules are asked.
    stem: usize,
    /// A repository of its own: the rules above end here.
    repository: bool,
    rules: Gitignore,
}

impl Ignored {
    /// Goes down into `dir`, whose path from the top is `relative`.
    pub(super) fn enter(&mut self, dir: &Dir, relative: &[u8]) {
        let stem = if relative.is_empty() { 0 } else { relative.len() + 1 };
        let repository = dir.stat(b".git").is_ok();
        self.0.push(Level { stem, repository, rules: rules(dir) });
    }

    /// Goes up again.
    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// Whether the rules leave out `relative`, a path from the top in the directory that was entered last.
    pub(super) fn hides(&self, relative: &[u8], directory: bool) -> bool {
        for level in self.0.iter().rev() {
            let own = relative.get(level.stem..).unwrap_or_default();
            match level.rules.matched(Path::new(OsStr::from_bytes(own)), directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None if level.repository => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn rules(dir: &Dir) -> Gitignore {
    let mut text = String::new();
    if let Ok((file, _)) = dir.open_file(b".gitignore") {
        // One that cannot be read, or is no text, says nothing.
        let _ = std::fs::File::from(file).take(LARGEST).read_to_string(&mut text);
    }
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern is passed over, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
