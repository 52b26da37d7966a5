//! Entries and what they are read as.

use super::*;

/// The patterns of an entry, written back in a plain form.
fn read(entry: &str, side: Side) -> Result<Vec<String>, (PatternErrorKind, String)> {
    let patterns = parse(entry, side, "/base/dir")
        .map_err(|error| (error.kind, entry.get(error.range).unwrap().to_owned()))?;
    Ok(patterns.iter().map(written).collect())
}

fn written(pattern: &Pattern) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::One => "?".to_owned(),
        Piece::Star => "*".to_owned(),
        Piece::Stars => "**".to_owned(),
        Piece::Class(class) => format!("[{}{:?}]", if class.negated { "!" } else { "" }, class.ranges),
    };
    let text: String = pattern.pieces.iter().map(piece).collect();
    if pattern.plain { format!("{text} and below") } else { text }
}

#[test]
fn entries_become_absolute_patterns() {
    for (entry, side, wanted) in [
        ("/srv/in", Side::Allow, &["/srv/in and below"][..]),
        ("/srv//in/./x/..", Side::Allow, &["/srv/in and below"]),
        ("out", Side::Allow, &["/base/dir/out and below"]),
        (".", Side::Allow, &["/base/dir and below"]),
        ("../x", Side::Allow, &["/base/x and below"]),
        ("out/**", Side::Allow, &["/base/dir/out/**"]),
        ("./out/*.md", Side::Allow, &["/base/dir/out/*.md"]),
        ("**/x", Side::Allow, &["**/x"]),
        ("**", Side::Allow, &["/base/dir/**"]),
        ("**", Side::Deny, &["**/**"]),
        ("*.md", Side::Allow, &["/base/dir/*.md"]),
        ("*.md", Side::ReadOnly, &["/base/dir/*.md"]),
        ("*.md", Side::Deny, &["**/*.md"]),
        (".env", Side::Deny, &["**/.env and below"]),
        ("a/.env", Side::Deny, &["/base/dir/a/.env and below"]),
        (".env", Side::ReadOnly, &["/base/dir/.env and below"]),
        ("/a//*/./b/", Side::Deny, &["/a/*/b"]),
        ("/a/{b,c/d,}x", Side::Allow, &["/a/bx", "/a/c/dx", "/a/x"]),
        ("/a/{b,{c,d}e}", Side::Allow, &["/a/b", "/a/ce", "/a/de"]),
        ("*.{pem,key}", Side::Deny, &["**/*.pem", "**/*.key"]),
        ("/a/{b*,c}*", Side::Allow, &["/a/b*", "/a/c*"]),
        ("/a/\\*\\{b", Side::Allow, &["/a/*{b"]),
        ("/a,b/*", Side::Allow, &["/a,b/*"]),
        ("/a/***/b", Side::Allow, &["/a/**/b"]),
        ("/a/[!x]?", Side::Allow, &["/a/[![('x', 'x')]]?"]),
        ("/a/[]a-]", Side::Allow, &["/a/[[(']', ']'), ('a', 'a'), ('-', '-')]]"]),
        ("/a/[\\]-_]", Side::Allow, &["/a/[[(']', '_')]]"]),
        ("/", Side::Deny, &["/ and below"]),
        ("/文件/*", Side::Allow, &["/文件/*"]),
    ] {
        assert_eq!(
            read(entry, side).as_deref(),
            Ok(&wanted.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..]),
            "{entry}"
        );
    }
}

#[test]
fn malformed_entries_say_what_and_where() {
    use PatternErrorKind as K;
    for (entry, side, kind, at) in [
        ("", Side::Allow, K::Empty, ""),
        ("/a\0", Side::Deny, K::Nul, "\0"),
        ("{a,b", Side::Deny, K::UnclosedBraces, "{"),
        ("/文{a,{b}", Side::Deny, K::UnclosedBraces, "{"),
        ("a}b", Side::Deny, K::UnopenedBraces, "}"),
        ("/a/{}", Side::Deny, K::EmptyBraces, "{"),
        ("/a/[b", Side::Deny, K::UnclosedClass, "["),
        ("/a/[]", Side::Deny, K::EmptyClass, "["),
        ("/a/[!]/b", Side::Deny, K::EmptyClass, "["),
        ("/a/b]", Side::Deny, K::UnopenedClass, "]"),
        ("/a/[z-a]", Side::Deny, K::ReversedRange, "z-a"),
        ("/a/[b/c]", Side::Deny, K::SlashInClass, "/"),
        ("/a/[+-9]", Side::Deny, K::SlashInClass, "+-9"),
        ("/a\\", Side::Deny, K::DanglingEscape, "\\"),
        ("/a/*/../b", Side::Deny, K::ParentInGlob, "/a/*/../b"),
        ("/a/[一-龥]", Side::Deny, K::ClassTooWide, "/a/[一-龥]"),
        ("/a/[\u{958}]", Side::Deny, K::ComposedInClass, "/a/[\u{958}]"),
        ("{{{{{{{{{a}}}}}}}}}", Side::Deny, K::BracesTooDeep, "{"),
        ("{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b}", Side::Deny, K::TooManyAlternatives, "{"),
        ("/", Side::Allow, K::WholeTree, "/"),
        ("/a/..", Side::Allow, K::WholeTree, "/a/.."),
        ("/**", Side::Allow, K::WholeTree, "/**"),
        ("**/*", Side::Allow, K::WholeTree, "**/*"),
        ("/**/*/", Side::Allow, K::WholeTree, "/**/*/"),
    ] {
        assert_eq!(read(entry, side), Err((kind, at.to_owned())), "{entry}");
    }
    // A wide class is no trouble where nothing is folded.
    assert!(check("/a/[一-龥]", Side::Allow).is_ok());
}

proptest::proptest! {
    #[test]
    fn no_entry_panics(entry in r"[a-b/.*?\[\]!\-{},\\é\x00]{0,24}") {
        for side in [Side::Allow, Side::Deny, Side::ReadOnly] {
            let read = parse(&entry, side, "/base");
            proptest::prop_assert_eq!(read.is_ok(), check(&entry, side).is_ok());
            if let Err(error) = read {
                proptest::prop_assert!(entry.get(error.range).is_some());
            }
        }
    }
}
