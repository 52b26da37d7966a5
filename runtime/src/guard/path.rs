//! Paths as bytes, brought into one lexical form before anything is judged.

use super::GuardError;

/// An absolute path without empty parts, `.` or `..`, and without a trailing slash. `/` alone is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalPath {
    bytes: Vec<u8>,
    directory: bool,
}

impl NormalPath {
    /// Brings `asked` into normal form, taken from `base` (itself normal) where it is relative.
    ///
    /// `..` is taken out lexically: `link/../x` is `x` beside the link, whatever the link names.
    ///
    /// # Errors
    ///
    /// [`GuardError::InvalidPath`] for an empty path and one that holds a NUL.
    pub fn new(base: &[u8], asked: &[u8]) -> Result<Self, GuardError> {
        if asked.is_empty() {
            return Err(GuardError::InvalidPath("it is empty"));
        }
        if memchr::memchr(0, asked).is_some() {
            return Err(GuardError::InvalidPath("it holds a NUL"));
        }
        let mut bytes = Vec::with_capacity(base.len() + asked.len() + 1);
        if asked.first() != Some(&b'/') {
            push_parts(&mut bytes, base);
        }
        push_parts(&mut bytes, asked);
        if bytes.is_empty() {
            bytes.push(b'/');
        }
        let last = asked.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        Ok(Self { bytes, directory: matches!(last, b"" | b"." | b"..") })
    }

    /// The path.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the spelling asks for a directory: it ended in `/`, `/.` or `/..`.
    #[must_use]
    pub const fn asks_directory(&self) -> bool {
        self.directory
    }
}

/// Adds the parts of `from` to the absolute path `onto`, taking out `.` and `..`.
fn push_parts(onto: &mut Vec<u8>, from: &[u8]) {
    for part in parts(from) {
        if part == b".." {
            let cut = memchr::memrchr(b'/', onto).unwrap_or(0);
            onto.truncate(cut);
        } else {
            onto.push(b'/');
            onto.extend_from_slice(part);
        }
    }
}

/// The parts of a path: what stands between slashes, without empty ones and `.`.
pub(crate) fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

/// What `path` is below `dir`: `Some(b"")` where they are equal, `None` where it is elsewhere. Both are normal.
pub(crate) fn below<'a>(dir: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    if dir == b"/" {
        return path.strip_prefix(b"/");
    }
    match path.strip_prefix(dir)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Whether a normal path is `dir` or lies below it.
#[must_use]
pub fn is_below(dir: &[u8], path: &[u8]) -> bool {
    below(dir, path).is_some()
}

/// `dir` and `name` as one normal path.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + name.len() + 1);
    if dir != b"/" {
        path.extend_from_slice(dir);
    }
    if !name.is_empty() || path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// The directory and the last name of a normal path; `None` for `/`.
pub(crate) fn split_last(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let cut = memchr::memrchr(b'/', path)?;
    let (dir, name) = path.split_at(cut);
    let name = name.strip_prefix(b"/")?;
    if name.is_empty() {
        return None;
    }
    Some((if dir.is_empty() { b"/" } else { dir }, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(asked: &str) -> String {
        let path = NormalPath::new(b"/base/dir", asked.as_bytes()).unwrap();
        String::from_utf8(path.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn takes_relative_paths_from_the_base() {
        assert_eq!(normal("a/b"), "/base/dir/a/b");
        assert_eq!(normal("."), "/base/dir");
        assert_eq!(normal("~root"), "/base/dir/~root");
        assert_eq!(normal("file:///etc/passwd"), "/base/dir/file:/etc/passwd");
    }

    #[test]
    fn takes_dots_out() {
        assert_eq!(normal("/base/dir/../x"), "/base/x");
        assert_eq!(normal("../../../.."), "/");
        assert_eq!(normal("/a//b/./c/"), "/a/b/c");
        assert_eq!(normal("/..."), "/...");
    }

    #[test]
    fn remembers_that_a_directory_was_asked_for() {
        for asked in ["l/", "l//", "l/.", "l/./", "l/x/.."] {
            assert!(NormalPath::new(b"/b", asked.as_bytes()).unwrap().asks_directory(), "{asked}");
        }
        assert!(!NormalPath::new(b"/b", b"l").unwrap().asks_directory());
    }

    #[test]
    fn refuses_what_is_no_path() {
        assert!(matches!(NormalPath::new(b"/b", b""), Err(GuardError::InvalidPath(_))));
        assert!(matches!(NormalPath::new(b"/b", b"a\0b"), Err(GuardError::InvalidPath(_))));
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_elsewhere() {
        assert_eq!(below(b"/home/user", b"/home/user2/x"), None);
        assert_eq!(below(b"/home/user", b"/home/user"), Some(&b""[..]));
        assert_eq!(below(b"/home/user", b"/home/user/x"), Some(&b"x"[..]));
        assert_eq!(below(b"/", b"/x"), Some(&b"x"[..]));
    }
}
