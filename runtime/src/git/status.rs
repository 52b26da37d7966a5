//! Reads what git prints for programs: `status --porcelain=v2 -z` and `diff --numstat -z`. Names are bytes.

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, from the root of the working tree.
    pub path: Vec<u8>,
    /// `modified`, `added`, `deleted`, `renamed`, `untracked`, `copied` or `unmerged`.
    pub status: &'static str,
    /// The name before a rename or copy.
    pub original: Option<Vec<u8>>,
}

/// What `git status` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The branch; `(detached)` without one.
    pub branch: String,
    /// Changed files, in git's order.
    pub entries: Vec<Entry>,
}

/// Reads `git status --porcelain=v2 --branch -z`. A record that is cut off or of a kind not known is left out.
#[must_use]
pub fn parse_status(bytes: &[u8]) -> Status {
    let mut status = Status::default();
    let mut records = bytes.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        let Some((kind, rest)) = record.split_first() else { continue };
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let entry = match kind {
            b'#' => {
                if let Some(head) = rest.strip_prefix(b"branch.head ") {
                    status.branch = String::from_utf8_lossy(head).into_owned();
                }
                None
            }
            b'1' => field(rest, 7).map(|path| (path, letters(rest), None)),
            b'2' => {
                let original = records.next().map(<[u8]>::to_vec);
                field(rest, 8).map(|path| (path, letters(rest), original))
            }
            b'u' => field(rest, 9).map(|path| (path, "unmerged", None)),
            b'?' => Some((rest, "untracked", None)),
            _ => None,
        };
        if let Some((path, kind, original)) = entry.filter(|(path, ..)| !path.is_empty()) {
            status.entries.push(Entry { path: path.to_vec(), status: kind, original });
        }
    }
    status
}

/// What stands behind the first `count` fields; a name may hold blanks.
fn field(record: &[u8], count: usize) -> Option<&[u8]> {
    record.splitn(count + 1, |byte| *byte == b' ').nth(count)
}

/// The word for the two letters at the beginning: the index first, then the working tree.
fn letters(record: &[u8]) -> &'static str {
    let letter = record.iter().take(2).find(|letter| **letter != b'.');
    match letter {
        Some(b'A') => "added",
        Some(b'D') => "deleted",
        Some(b'R') => "renamed",
        Some(b'C') => "copied",
        Some(b'U') => "unmerged",
        _ => "modified",
    }
}

/// Files changed, lines added and lines removed, from `git diff --numstat -z`. Binary files count as files only.
#[must_use]
pub fn parse_numstat(bytes: &[u8]) -> (u64, u64, u64) {
    let (mut files, mut added, mut removed) = (0, 0, 0);
    let mut records = bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let mut fields = record.splitn(3, |byte| *byte == b'\t');
        let mut number =
            || fields.next().and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
        let (plus, minus) = (number().unwrap_or(0), number().unwrap_or(0));
        files += 1;
        added = u64::saturating_add(added, plus);
        removed = u64::saturating_add(removed, minus);
        // A rename has no name here; two records with the names follow.
        if fields.next().is_some_and(<[u8]>::is_empty) {
            records.next();
            records.next();
        }
    }
    (files, added, removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_renames_blanks_quotes_and_foreign_names() {
        let text = b"# branch.oid abc\0# branch.head main\0\
            1 .M N... 100644 100644 100644 a b a b.py\0\
            2 R. N... 100644 100644 100644 a b R100 new \"name\".txt\0old\nname.txt\0\
            1 A. N... 000000 100644 100644 a b \xe6\x8a\xa5\xe5\x91\x8a\xff\0\
            u UU N... 1 2 3 4 a b c both\0\
            ? ?\0! ignored\0";
        let entry = |path: &[u8], status, original: Option<&[u8]>| Entry {
            path: path.to_vec(),
            status,
            original: original.map(<[u8]>::to_vec),
        };
        assert_eq!(
            parse_status(text),
            Status {
                branch: "main".to_owned(),
                entries: vec![
                    entry(b"a b.py", "modified", None),
                    entry(b"new \"name\".txt", "renamed", Some(b"old\nname.txt")),
                    entry(b"\xe6\x8a\xa5\xe5\x91\x8a\xff", "added", None),
                    entry(b"both", "unmerged", None),
                    entry(b"?", "untracked", None),
                ],
            }
        );
    }

    #[test]
    fn counts_binary_files_and_renames_once() {
        assert_eq!(parse_numstat(b"3\t1\ta\0-\t-\tb\x000\t2\t\0old\0new\0"), (3, 3, 3));
        assert_eq!(parse_numstat(b""), (0, 0, 0));
        let most = format!("{0}\t{0}\ta\01\t1\tb\0", u64::MAX);
        assert_eq!(parse_numstat(most.as_bytes()), (2, u64::MAX, u64::MAX));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (parse_status(&bytes), parse_numstat(&bytes));
        }
    }
}
