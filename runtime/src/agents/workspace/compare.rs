//! What differs between two snapshots: which paths by their trees alone, how many lines and which by git.

use std::collections::BTreeMap;
use std::io;

use super::objects::{Objects, Oid};
use super::tree::{self, Entry, Manifest};
use crate::git::{GitError, Repository};

/// Longest list of figures that is read, in bytes.
const FIGURES: usize = 16 << 20;

/// Both sides of a path that differs.
pub type Sides = (Option<Entry>, Option<Entry>);

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From the top.
    pub path: Vec<u8>,
    /// Where it was before it was renamed.
    pub original: Option<Vec<u8>>,
    /// `added`, `modified`, `deleted` or `renamed`.
    pub status: &'static str,
    /// Lines.
    pub insertions: u64,
    /// Lines.
    pub deletions: u64,
    /// No text, so that lines are not counted.
    pub binary: bool,
}

/// Every path that differs.
///
/// # Errors
/// An object is missing or broken, or the system's error.
pub fn differing(objects: &Objects, before: Oid, after: Oid) -> io::Result<BTreeMap<Vec<u8>, Sides>> {
    if before == after {
        return Ok(BTreeMap::new());
    }
    let (before, mut after) = (tree::read(objects, before)?, tree::read(objects, after)?);
    let mut differing = BTreeMap::new();
    for (path, entry) in before {
        let now = after.remove(&path);
        if now != Some(entry) {
            differing.insert(path, (Some(entry), now));
        }
    }
    differing.extend(after.into_iter().map(|(path, entry)| (path, (None, Some(entry)))));
    Ok(differing)
}

/// Two trees that hold nothing but what differs: git is shown no more than its caller may see.
///
/// # Errors
/// The system's error.
pub fn reduced(objects: &Objects, differing: &BTreeMap<Vec<u8>, Sides>) -> io::Result<(Oid, Oid)> {
    let (mut before, mut after) = (Manifest::new(), Manifest::new());
    for (path, (was, is)) in differing {
        before.extend(was.map(|entry| (path.clone(), entry)));
        after.extend(is.map(|entry| (path.clone(), entry)));
    }
    Ok((tree::write(objects, &before)?, tree::write(objects, &after)?))
}

/// The words of every comparison; renames are looked for, content is taken as it is.
const COMPARE: [&str; 7] =
    ["diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index"];

/// The changes from one tree to another, in git's order.
///
/// # Errors
/// Git fails.
pub async fn changes(git: &Repository, before: Oid, after: Oid) -> Result<Vec<Change>, GitError> {
    let (before, after) = (before.to_string(), after.to_string());
    let words = [&COMPARE[..], &["--raw", "--numstat", "-z", &before, &after]].concat();
    Ok(parse(&git.run(&words, FIGURES).await?.bytes))
}

/// The same as a patch of at most `most` bytes, and whether there was more.
///
/// # Errors
/// Git fails.
pub async fn patch(
    git: &Repository,
    before: Oid,
    after: Oid,
    context: u64,
    most: usize,
) -> Result<(String, bool), GitError> {
    let (before, after, context) = (before.to_string(), after.to_string(), format!("--unified={context}"));
    let words = [&COMPARE[..], &["--patch", "--binary", &context, &before, &after]].concat();
    let output = git.run(&words, most).await?;
    Ok((String::from_utf8_lossy(&output.bytes).into_owned(), output.truncated))
}

/// Reads `--raw --numstat -z`: first a record `:… <letter>` and its one or two names for each path, then a record
/// `<insertions>\t<deletions>\t<name>`, with two further names where that name is empty.
fn parse(bytes: &[u8]) -> Vec<Change> {
    let mut changes: BTreeMap<Vec<u8>, Change> = BTreeMap::new();
    let mut fields = bytes.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        if field.starts_with(b":") {
            let letter = field.rsplit(|byte| *byte == b' ').next().and_then(<[u8]>::first).copied();
            let Some(first) = fields.next() else { break };
            let (status, original) = match letter {
                Some(b'A') => ("added", None),
                Some(b'D') => ("deleted", None),
                Some(b'R') => ("renamed", Some(first.to_vec())),
                _ => ("modified", None),
            };
            let path = if original.is_some() { fields.next().unwrap_or_default() } else { first }.to_vec();
            let change =
                Change { path: path.clone(), original, status, insertions: 0, deletions: 0, binary: false };
            changes.insert(path, change);
            continue;
        }
        let mut columns = field.splitn(3, |byte| *byte == b'\t');
        let (Some(insertions), Some(deletions), Some(name)) =
            (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let name = if name.is_empty() { fields.nth(1).unwrap_or_default() } else { name };
        if let Some(change) = changes.get_mut(name) {
            let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
            change.binary = insertions == b"-";
            change.insertions = number(insertions).unwrap_or(0);
            change.deletions = number(deletions).unwrap_or(0);
        }
    }
    changes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_records_and_figures_come_together() {
        let change = |path: &str, original: Option<&str>, status, insertions, deletions, binary| Change {
            path: path.into(),
            original: original.map(Into::into),
            status,
            insertions,
            deletions,
            binary,
        };
        let raw =
            b":100644 100644 a b M\0a b\0:100644 100644 c c R098\0old\0new\0:000000 100644 0 d A\0pic\0\
            2\t1\ta b\x003\t0\t\0old\0new\0-\t-\tpic\0";
        assert_eq!(
            parse(raw),
            [
                change("a b", None, "modified", 2, 1, false),
                change("new", Some("old"), "renamed", 3, 0, false),
                change("pic", None, "added", 0, 0, true),
            ]
        );
        assert_eq!(parse(b""), []);
        assert_eq!(parse(b":100644"), []);
    }
}
