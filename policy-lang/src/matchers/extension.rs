//! `allow_extensions` and `deny_extensions`: judged on the name that a write makes.
//!
//! Case is ignored, and dots and spaces at the end of the name are stripped first, because some file systems and
//! programs ignore them: `x.SH`, `x.sh.` and `x.sh ` are all `.sh`, and so is `.sh` itself.

use super::{Allow, Deny, denied, not_allowed};
use crate::paths::fold;
use crate::policy::ElementRef;
use std::borrow::Cow;

/// An extension in folded form with its dot: `.sh`, `.tar.gz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension(Box<str>);

impl Extension {
    /// Reads `.sh` or `sh`. None where nothing is left without the dot, or a slash or NUL is part of it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('.').unwrap_or(text).trim_end_matches(['.', ' ']);
        let whole = !bare.is_empty() && !bare.contains(['/', '\0']);
        whole.then(|| Self(fold::text(&format!(".{bare}")).into()))
    }

    /// Folded, with its dot.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether the folded `name` ends in it.
    fn ends(&self, name: &[u8]) -> bool {
        let start = name.len().checked_sub(self.0.len());
        start
            .and_then(|start| name.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(self.0.as_bytes()))
    }
}

/// Extension rules.
#[derive(Debug, Clone, Default)]
pub struct ExtensionRules {
    /// `allow_extensions`
    pub allow: Option<Allow<Extension>>,
    /// `deny_extensions`
    pub deny: Deny<Extension>,
}

impl ExtensionRules {
    /// What refuses the last component of `path`, a path in normal form; none where it may be written.
    #[must_use]
    pub fn refuses(&self, path: &[u8]) -> Option<ElementRef> {
        let name = written_name(path);
        denied(&self.deny, |entry| entry.ends(&name))
            .or_else(|| not_allowed(self.allow.as_ref(), |entry| entry.ends(&name)))
    }
}

fn written_name(path: &[u8]) -> Cow<'_, [u8]> {
    let mut name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    while let [rest @ .., b'.' | b' '] = name {
        name = rest;
    }
    fold::path(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<Extension> {
        entries.iter().map(|entry| Extension::parse(entry).unwrap()).collect()
    }

    #[test]
    fn evasions_of_a_denied_extension_are_denied() {
        let deny =
            list(&[".sh", "tar.GZ", ".é"]).into_iter().map(|entry| (entry, ElementRef::BASE)).collect();
        let rules = ExtensionRules { allow: None, deny };
        for name in [
            "x.sh",
            "x.SH",
            "x.Sh",
            "x.sh.",
            "x.sh. .",
            "x.sh ",
            ".sh",
            "a.tar.gz",
            "a.b.TAR.gz",
            "x.e\u{301}",
            "x.É",
        ] {
            assert!(rules.refuses(format!("/b/{name}").as_bytes()).is_some(), "{name}");
        }
        for name in ["x.txt", "sh", "x.shx", "xsh", "a.gz", "x.sh/y", "x.e"] {
            assert!(rules.refuses(format!("/b/{name}").as_bytes()).is_none(), "{name}");
        }
    }

    #[test]
    fn an_allow_list_lets_nothing_else_through() {
        let allow = |entries: &[&str]| ExtensionRules {
            allow: Some(Allow { entries: list(entries), origin: ElementRef::BASE }),
            deny: vec![],
        };
        let rules = allow(&[".txt", "md"]);
        for (name, passes) in [
            ("a.txt", true),
            ("a.TXT", true),
            ("a.md.", true),
            ("a", false),
            ("a.txt.sh", false),
            ("...", false),
        ] {
            assert_eq!(rules.refuses(format!("/b/{name}").as_bytes()).is_none(), passes, "{name}");
        }
        assert!(allow(&[]).refuses(b"/b/a.txt").is_some());
    }

    #[test]
    fn what_is_no_extension_is_not_read() {
        for text in ["", ".", "..", ". ", "a/b", "\0"] {
            assert_eq!(Extension::parse(text), None, "{text:?}");
        }
    }
}
