//! The names of contents in a patch: SHA-1, as nearly every repository has them. Git takes a patch of a binary file only
//! where its names have the length of its own.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io;

use sha1::{Digest as _, Sha1};

use super::compare::Sides;
use super::objects::{Kind, Objects, Oid};

/// The name of no content, in a store of ours.
const NONE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The usual name of every content that differs.
///
/// # Errors
/// An object is missing or broken, or the system's error.
pub(super) fn usual(
    objects: &Objects,
    differing: &BTreeMap<Vec<u8>, Sides>,
) -> io::Result<HashMap<String, String>> {
    let mut names = HashMap::from([(NONE.to_owned(), NONE.get(..40).unwrap_or_default().to_owned())]);
    for oid in differing.values().flat_map(|(was, is)| [was, is]).flatten().map(|entry| entry.oid) {
        if let Entry::Vacant(place) = names.entry(oid.to_string()) {
            place.insert(name_of(objects, oid)?);
        }
    }
    Ok(names)
}

fn name_of(objects: &Objects, oid: Oid) -> io::Result<String> {
    let content = objects.get(Kind::Blob, oid)?;
    let mut digest = Sha1::new();
    digest.update(format!("blob {}\0", content.len()));
    digest.update(&content);
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The same patch with the usual names. Only its own lines begin with `index `: those of files begin with a sign.
#[must_use]
pub(super) fn renamed(patch: &str, names: &HashMap<String, String>) -> String {
    let mut whole = String::with_capacity(patch.len());
    for line in patch.split_inclusive('\n') {
        match line.strip_prefix("index ").and_then(|rest| index_line(rest, names)) {
            Some(renamed) => whole.push_str(&renamed),
            None => whole.push_str(line),
        }
    }
    whole
}

/// `<was>..<is>` and what follows.
fn index_line(rest: &str, names: &HashMap<String, String>) -> Option<String> {
    let (was, rest) = rest.split_once("..")?;
    let (is, rest) = rest.split_at_checked(64)?;
    Some(format!("index {}..{}{rest}", names.get(was)?, names.get(is)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_lines_are_renamed_and_nothing_else() {
        let (old, new) = ("a".repeat(64), "b".repeat(64));
        let names = HashMap::from([(old.clone(), "1".repeat(40)), (new.clone(), "2".repeat(40))]);
        let line = format!("index {old}..{new} 100644\n");
        let patch = format!(
            "diff --git a/x b/x\n{line}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{line}+{line} {line}index x..y\n"
        );
        let wanted =
            patch.replacen(&line, &format!("index {}..{} 100644\n", "1".repeat(40), "2".repeat(40)), 1);
        assert_eq!(renamed(&patch, &names), wanted);
    }
}
