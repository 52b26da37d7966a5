//! Lexical normal form of a requested path: absolute, no `.`, no `..`, no doubled and no trailing slash.
//!
//! Lexical means: no file system is asked, so `a/link/..` is `a` here whatever `link` is. The path as resolved is judged
//! a second time by whoever opens it.

use std::borrow::Cow;

/// Why a requested path has no normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is empty.
    #[error("the path is empty")]
    Empty,
    /// It holds a NUL byte, which no file name can.
    #[error("the path holds a NUL byte")]
    Nul,
}

/// The absolute normal form of `requested`; a relative path is taken from `base_dir`, which must be normal itself.
///
/// `.` components and repeated slashes vanish, `..` removes the component before it (at the root it removes nothing),
/// a trailing slash vanishes. Nothing else has a meaning: `~`, `file:///x` and `C:\x` are relative names like any other.
/// A path that is normal already is borrowed.
///
/// # Errors
/// An empty path and a path with a NUL byte.
pub fn absolute<'a>(base_dir: &[u8], requested: &'a [u8]) -> Result<Cow<'a, [u8]>, PathError> {
    if requested.is_empty() {
        return Err(PathError::Empty);
    }
    if memchr::memchr(0, requested).is_some() {
        return Err(PathError::Nul);
    }
    if is_normal(requested) {
        return Ok(Cow::Borrowed(requested));
    }
    let mut normal = Vec::with_capacity(base_dir.len() + requested.len() + 1);
    if !requested.starts_with(b"/") {
        push_components(&mut normal, base_dir);
    }
    push_components(&mut normal, requested);
    if normal.is_empty() {
        normal.push(b'/');
    }
    Ok(Cow::Owned(normal))
}

/// Whether `path` is absolute and in normal form.
#[must_use]
pub fn is_normal(path: &[u8]) -> bool {
    if path == b"/" {
        return true;
    }
    let Some(rest) = path.strip_prefix(b"/") else { return false };
    // Most paths hold nothing that could be such a component: one look over pairs of bytes tells, many at a time.
    let pairs = path.iter().zip(rest);
    let odd = pairs.fold(false, |odd, (a, b)| odd | ((*a == b'/') & ((*b == b'/') | (*b == b'.'))));
    if !odd && !rest.ends_with(b"/") {
        return true;
    }
    let mut start = 0;
    let ends = memchr::memchr_iter(b'/', rest).chain([rest.len()]);
    ends.map(|end| rest.get(std::mem::replace(&mut start, end + 1)..end))
        .all(|component| !matches!(component, None | Some(b"" | b"." | b"..")))
}

/// Whether `path` is `dir` or lies below it; both in normal form.
#[must_use]
pub fn is_at_or_below(path: &[u8], dir: &[u8]) -> bool {
    dir == b"/" || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn push_components(normal: &mut Vec<u8>, path: &[u8]) {
    for component in path.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => normal.truncate(memchr::memrchr(b'/', normal).unwrap_or(0)),
            _ => {
                normal.push(b'/');
                normal.extend_from_slice(component);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_have_one_normal_form() {
        let rows: &[(&str, &str)] = &[
            ("/a/b", "/a/b"),
            ("/", "/"),
            ("//", "/"),
            ("/.", "/"),
            ("/..", "/"),
            ("/../../etc", "/etc"),
            ("/a//b/", "/a/b"),
            ("/a/./b/.", "/a/b"),
            ("/a/../b", "/b"),
            (".", "/home/user"),
            ("./", "/home/user"),
            ("..", "/home"),
            ("x", "/home/user/x"),
            ("../user2/s", "/home/user2/s"),
            ("~", "/home/user/~"),
            ("~root", "/home/user/~root"),
            ("file:///etc/passwd", "/home/user/file:/etc/passwd"),
            ("C:\\x", "/home/user/C:\\x"),
            ("...", "/home/user/..."),
            ("/a/..b/.c", "/a/..b/.c"),
        ];
        for (requested, wanted) in rows {
            let found = absolute(b"/home/user", requested.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&found), *wanted, "{requested}");
            assert!(is_normal(&found), "{requested}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn normal_is_what_making_normal_leaves_as_it_is(path in "/?[./a]{0,9}") {
            prop_assume!(!path.is_empty());
            let mut made = Vec::new();
            push_components(&mut made, path.as_bytes());
            if made.is_empty() {
                made.push(b'/');
            }
            prop_assert_eq!(is_normal(path.as_bytes()), made == path.as_bytes(), "{}", path);
        }
    }

    #[test]
    fn normal_paths_are_borrowed_and_impossible_ones_refused() {
        assert!(matches!(absolute(b"/b", b"/a/\xff"), Ok(Cow::Borrowed(_))));
        assert_eq!(absolute(b"/b", b""), Err(PathError::Empty));
        assert_eq!(absolute(b"/b", b"/a\0"), Err(PathError::Nul));
    }

    #[test]
    fn a_sibling_that_shares_the_prefix_is_not_below() {
        assert!(is_at_or_below(b"/home/user", b"/home/user"));
        assert!(is_at_or_below(b"/home/user/a", b"/home/user"));
        assert!(is_at_or_below(b"/x", b"/"));
        for sibling in [&b"/home/user2/s"[..], b"/home/user.bak", b"/home/user-old", b"/home"] {
            assert!(!is_at_or_below(sibling, b"/home/user"));
        }
    }
}
