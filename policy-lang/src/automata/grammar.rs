//! Which texts can be asked about at all: paths in normal form, and names of variables.

/// What the texts of a walk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Grammar {
    /// Absolute paths in normal form, see [`crate::paths::normal`].
    Path,
    /// Names of variables: not empty, without `=`.
    Name,
}

/// How far a text has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Nothing was read.
    Start,
    /// `/` and nothing else.
    Root,
    /// A slash after a component.
    Slash,
    /// A component that is `.` so far.
    Dot,
    /// A component that is `..` so far.
    Dots,
    /// Within a component or name.
    Within,
}

impl Grammar {
    /// What one more byte makes of a text; none where no text goes on so.
    pub(super) const fn step(self, part: Part, byte: u8) -> Option<Part> {
        match (self, part, byte) {
            (_, _, 0) | (Self::Name, _, b'=') => None,
            (Self::Name, ..) => Some(Part::Within),
            (Self::Path, Part::Start, b'/') => Some(Part::Root),
            (Self::Path, Part::Within, b'/') => Some(Part::Slash),
            (Self::Path, Part::Start, _) | (Self::Path, _, b'/') => None,
            (Self::Path, Part::Root | Part::Slash, b'.') => Some(Part::Dot),
            (Self::Path, Part::Dot, b'.') => Some(Part::Dots),
            (Self::Path, ..) => Some(Part::Within),
        }
    }

    /// Whether a text may end here.
    pub(super) const fn ends(self, part: Part) -> bool {
        matches!(part, Part::Root | Part::Within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::normal::is_normal;

    #[test]
    fn paths_are_those_in_normal_form() {
        let parts = ["", ".", "..", "...", "a", ".a", "a."];
        let mut texts = vec![String::new(), "/".to_owned(), "a".to_owned(), "//".to_owned()];
        for one in parts {
            for other in parts {
                texts.extend([format!("/{one}"), format!("/{one}/{other}"), format!("{one}/{other}")]);
            }
        }
        for text in texts {
            let end = text.bytes().try_fold(Part::Start, |part, byte| Grammar::Path.step(part, byte));
            assert_eq!(
                end.is_some_and(|part| Grammar::Path.ends(part)),
                is_normal(text.as_bytes()),
                "{text}"
            );
        }
    }

    #[test]
    fn names_are_not_empty_and_hold_no_equals_sign() {
        assert!(!Grammar::Name.ends(Part::Start));
        assert_eq!(Grammar::Name.step(Part::Start, b'='), None);
        assert_eq!(Grammar::Name.step(Part::Within, 0), None);
        assert_eq!(Grammar::Name.step(Part::Start, b'A'), Some(Part::Within));
    }
}
