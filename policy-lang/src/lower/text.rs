//! A scalar that is text, with its place.

use crate::source::{Span, Spanned};
use std::borrow::Cow;

/// Text of a document.
#[derive(Debug)]
pub(crate) struct Text<'s> {
    /// The text, escapes resolved.
    pub(crate) value: Cow<'s, str>,
    /// Where it stands, quotes included.
    pub(crate) span: Span,
}

impl Text<'_> {
    /// As a list element or a token's part keeps it.
    pub(crate) fn spanned(self) -> Spanned<String> {
        Spanned { value: self.value.into_owned(), span: self.span }
    }
}

/// The words in backticks, joined as a sentence lists alternatives: `` `a`, `b` or `c` ``.
pub(crate) fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    joined(words, "or")
}

/// The words in backticks, joined as a sentence lists what there is: `` `a`, `b` and `c` ``.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    joined(words, "and")
}

fn joined<'a>(words: impl IntoIterator<Item = &'a str>, last_by: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {last_by} {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::alternatives;

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives([]), "");
        assert_eq!(alternatives(["a"]), "`a`");
        assert_eq!(alternatives(["a", "b"]), "`a` or `b`");
        assert_eq!(alternatives(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
