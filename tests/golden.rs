//! Golden files: compare what a test made with the file in git, or rewrite the file with `UPDATE=1`.
//!
//! A test program takes this file in with `#[path]`, makes one [`Goldens`], calls [`Goldens::compare`] for each file
//! and ends with [`Goldens::finish`], which reports every difference at once and names the command that rewrites.
//! Golden files in an owned folder that no case compared are orphans: a fault, or removed by `UPDATE=1`.
//!
//! ```ignore
//! #[path = "../golden.rs"]
//! mod golden;
//!
//! let mut goldens = golden::Goldens::new("cargo test -p runtime --test endpoints", &[("tests/policy/diagnose", "stderr")]);
//! goldens.compare("tests/policy/diagnose/syntax/tab.stderr", &rendered);
//! goldens.finish();
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The golden files of one test.
pub(crate) struct Goldens {
    command: &'static str,
    owned: Vec<(PathBuf, &'static str)>,
    update: bool,
    seen: BTreeSet<PathBuf>,
    faults: Vec<String>,
}

impl Goldens {
    /// `command` is the test command to name in a failure, without `UPDATE=1`. `owned` lists folders (from the root
    /// of the repository, searched to any depth) and the extension of the files in them that only this test writes.
    pub(crate) fn new(command: &'static str, owned: &[(&str, &'static str)]) -> Self {
        Self {
            command,
            owned: owned.iter().map(|(folder, extension)| (root().join(folder), *extension)).collect(),
            update: std::env::var_os("UPDATE").is_some_and(|value| value == "1"),
            seen: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    /// Compares `actual` with the file at `path` (from the root of the repository), or writes it.
    pub(crate) fn compare(&mut self, path: impl AsRef<Path>, actual: &str) {
        let (shown, path) = (path.as_ref().display().to_string(), root().join(path.as_ref()));
        self.seen.insert(path.clone());
        let wanted = fs::read_to_string(&path).ok();
        if wanted.as_deref() == Some(actual) {
            return;
        }
        if self.update {
            let written =
                path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, actual));
            if let Err(error) = written {
                self.faults.push(format!("{shown}: cannot be written: {error}"));
            }
            return;
        }
        self.faults.push(match wanted {
            None => format!("{shown}: missing"),
            Some(wanted) => format!("{shown}: differs\n{}", difference(&wanted, actual)),
        });
    }

    /// Looks for orphans, then fails with everything that was found.
    pub(crate) fn finish(mut self) {
        let mut files = Vec::new();
        for (folder, extension) in &self.owned {
            walk(folder, extension, &mut files);
        }
        for file in files.into_iter().filter(|file| !self.seen.contains(file)) {
            if !self.update || fs::remove_file(&file).is_err() {
                self.faults.push(format!("{}: no case owns this file", file.display()));
            }
        }
        assert!(
            self.faults.is_empty(),
            "{}\n\nto rewrite: UPDATE=1 {}\n",
            self.faults.join("\n\n"),
            self.command
        );
    }
}

/// The root of the repository: every crate is one folder below it.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Collects the files below `folder` that have `extension`; a missing folder has none.
fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, extension, found);
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
}

/// The first lines that differ, with what was wanted under `-` and what came under `+`.
fn difference(wanted: &str, actual: &str) -> String {
    const SHOWN: usize = 12;
    let (wanted, actual): (Vec<_>, Vec<_>) = (wanted.split('\n').collect(), actual.split('\n').collect());
    let same = wanted.iter().zip(&actual).take_while(|(one, other)| one == other).count();
    let tail = wanted.iter().rev().zip(actual.iter().rev()).take_while(|(one, other)| one == other).count();
    let tail = tail.min(wanted.len().min(actual.len()) - same);
    let mut text = format!("  from line {}:", same + 1);
    for (sign, lines) in [('-', &wanted), ('+', &actual)] {
        let changed = lines.len() - tail - same;
        for line in lines.iter().skip(same).take(changed.min(SHOWN)) {
            text.push_str(&format!("\n  {sign} {line}"));
        }
        if changed > SHOWN {
            text.push_str(&format!("\n  {sign} … {} more lines", changed - SHOWN));
        }
    }
    text
}
