//! Path rules against a slow matcher that is written down from the meaning alone, and against `globset`.

use super::pattern::{self, Class, Pattern, Piece, Side};
use super::*;
use crate::decide::Op;
use crate::policy::{ElementRef, Listed, Ruled};
use crate::resolved::{List, RuleIx};
use proptest::prelude::*;
use std::collections::BTreeSet;

const BASE: &str = "/base";

fn element(element: u32) -> ElementRef {
    ElementRef { element, ..ElementRef::BASE }
}

/// Lists whose elements are numbered through.
fn numbered(list: &List) -> Listed<'_> {
    Listed { list, origin: ElementRef::BASE }
}

fn rules(allow: Option<&[&str]>, deny: &[&str], read_only: &[&str]) -> PathRules {
    let allow = allow.map(List::of);
    let (deny, read_only) = (List::of(deny), List::of(read_only));
    PathRules::build(&PathSource {
        base_dir: BASE,
        allow: allow.as_ref().map(numbered),
        allow_rule: element(1000),
        deny: vec![numbered(&deny)],
        read_only: ReadOnlySource::Some(numbered(&read_only)),
        symlinks: Ruled { value: Symlinks::Within, rule: RuleIx::BASE },
    })
    .unwrap()
}

/// Which element of a list matches, by the meaning of the language and nothing else.
fn reference(entries: &[&str], side: Side, path: &[u8]) -> Option<u32> {
    let path = if side.refuses() { fold::path(path).to_ascii_lowercase() } else { path.to_vec() };
    let covers = |pattern: &Pattern| {
        let spread = side.refuses() || pattern.plain;
        let mut heads = vec![&path[..]];
        if spread {
            heads.extend((1..path.len()).filter(|at| path[*at] == b'/').map(|at| &path[..at]));
            heads.push(b"/");
        }
        let mut forms = vec![pattern.pieces.clone()];
        // A deny `X/**` covers X.
        while let Some([.., Piece::Text(text), Piece::Stars]) = forms.last().map(Vec::as_slice)
            && side.refuses()
            && text.ends_with('/')
        {
            let mut form = forms.last().unwrap().clone();
            form.pop();
            if let Some(Piece::Text(text)) = form.last_mut() {
                text.pop();
            }
            form.retain(|piece| *piece != Piece::Text(String::new()));
            if form.is_empty() {
                form.push(Piece::Text("/".to_owned()));
            }
            forms.push(form);
        }
        forms.iter().any(|form| heads.iter().any(|head| matches(form, head, side, None)))
    };
    let found =
        entries.iter().position(|entry| pattern::parse(entry, side, BASE).unwrap().iter().any(covers));
    found.map(|at| u32::try_from(at).unwrap())
}

fn matches(pieces: &[Piece], path: &[u8], side: Side, before: Option<&Piece>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return path.is_empty() };
    let go = |skip: usize| matches(rest, &path[skip..], side, Some(piece));
    let slash_before = matches!(before, Some(Piece::Text(text)) if text.ends_with('/'));
    match piece {
        Piece::Text(text) => {
            let text = if side.refuses() { fold::text(text) } else { text.clone() };
            path.starts_with(text.as_bytes()) && go(text.len())
        }
        Piece::Star => (0..=path.len()).take_while(|end| !path[..*end].contains(&b'/')).any(go),
        Piece::Stars => {
            let any = (0..=path.len()).any(go);
            match rest.first() {
                None if slash_before => !path.is_empty(),
                Some(Piece::Text(text)) if slash_before && text.starts_with('/') => {
                    let mut joined = rest.to_vec();
                    joined[0] = Piece::Text(text.trim_start_matches('/').to_owned());
                    joined.retain(|piece| *piece != Piece::Text(String::new()));
                    any || matches(&joined, path, side, before)
                }
                _ => any,
            }
        }
        Piece::One => one(path, side, |_| true).into_iter().any(go),
        Piece::Class(class) => one(path, side, |c| holds(class, c, side)).into_iter().any(go),
    }
}

/// How many bytes a single character may take here, where `fits` says whether it is one of those wanted.
fn one(path: &[u8], side: Side, fits: impl Fn(Option<char>) -> bool) -> Vec<usize> {
    let mut lengths = Vec::new();
    let text = (1..=4.min(path.len())).find_map(|end| std::str::from_utf8(&path[..end]).ok());
    if let Some(c) = text.and_then(|text| text.chars().next())
        && c != '/'
        && fits(Some(c))
    {
        lengths.push(c.len_utf8());
    }
    if side.refuses() && path.first().is_some_and(|byte| *byte >= 0x80) && fits(None) {
        lengths.push(1);
    }
    lengths
}

fn holds(class: &Class, c: Option<char>, side: Side) -> bool {
    let Some(c) = c else { return class.negated };
    let fold = |c: char| if side.refuses() { fold::text(&c.to_string()) } else { c.to_string() };
    let listed = class.ranges.iter().any(|(low, high)| (*low..=*high).any(|own| fold(own) == fold(c)));
    listed != class.negated
}

fn entry() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "A", ".git", "é", "e\u{301}", "Ω", "x.pem", ".env"]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["*", "**", "*.pem", "a*", "?", "*b", "**b"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["[ab]", "[!a]", "[A-C]x", "{a,b}", "{a,*.pem}", "[é]", "\\*", "??"]).prop_map(str::to_owned),
    ];
    (prop::sample::select(vec!["/", "", "**/", "/base/"]), prop::collection::vec(part, 1..4), any::<bool>())
        .prop_map(|(start, parts, below)| {
            format!("{start}{}{}", parts.join("/"), if below { "/**" } else { "" })
        })
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    let parts: Vec<&[u8]> = vec![
        b"a",
        b"b",
        b"A",
        b".GIT",
        b".git",
        "é".as_bytes(),
        "e\u{301}".as_bytes(),
        "É".as_bytes(),
        "ω".as_bytes(),
        b"x.pem",
        b".pem",
        b"X.PEM",
        b"a\xff",
        b"\xff",
        b"base",
        b"bx",
        b".env",
        b"ab",
        b"*",
    ];
    (any::<bool>(), prop::collection::vec(prop::sample::select(parts), 0..5)).prop_map(|(base, parts)| {
        let mut path = if base { b"/base".to_vec() } else { Vec::new() };
        parts.iter().for_each(|part| [b"/", *part].iter().for_each(|bytes| path.extend_from_slice(bytes)));
        if path.is_empty() { b"/".to_vec() } else { path }
    })
}

/// Entries that match nothing here, enough of them to make a hash table of every shape.
fn crowd(side: Side) -> Vec<String> {
    let shapes =
        |n: u32| [format!("/no/d{n}"), format!("**/no{n}/**"), format!("**/*.no{n}"), format!("**/no{n}*")];
    let all = (0..60).flat_map(shapes);
    all.filter(|entry| side.refuses() || !entry.contains('*'))
        .chain((0..60).map(|n| format!("/no/e{n}/**")))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_shape_agrees_with_the_reference(
        entries in prop::collection::vec(entry(), 1..5),
        paths in prop::collection::vec(path(), 12),
        many in any::<bool>(),
    ) {
        for side in [Side::Allow, Side::Deny, Side::ReadOnly] {
            let mut entries: Vec<&str> =
                entries.iter().map(String::as_str).filter(|entry| pattern::check(entry, side).is_ok()).collect();
            let (own, crowd) = (entries.clone(), crowd(side));
            if many {
                entries.extend(crowd.iter().map(String::as_str));
            }
            let rules = match side {
                Side::Allow => rules(Some(&entries), &[], &[]),
                Side::Deny => rules(Some(&["/base", "/*", "/?*/**"]), &entries, &[]),
                Side::ReadOnly => rules(Some(&["/base", "/*", "/?*/**"]), &[], &entries),
            };
            for path in &paths {
                let wanted = reference(&own, side, path).map(element);
                let verdict = rules.judge(path, Op::Write);
                match side {
                    Side::Allow => {
                        prop_assert_eq!(rules.allowed_by(path), wanted, "{:?} {:?}", own, path);
                        prop_assert_eq!(verdict.is_allowed(), wanted.is_some());
                    }
                    Side::Deny => match wanted {
                        Some(element) => prop_assert_eq!(verdict, PathVerdict::Denied(element), "{:?} {:?}", own, path),
                        None => prop_assert!(!matches!(verdict, PathVerdict::Denied(_)), "{:?} {:?}", own, path),
                    },
                    Side::ReadOnly if verdict != PathVerdict::NotAllowed(element(1000)) => {
                        let wanted = wanted.map_or(PathVerdict::Allowed, PathVerdict::ReadOnly);
                        prop_assert_eq!(verdict, wanted, "{:?} {:?}", own, path);
                    }
                    Side::ReadOnly => {}
                }
            }
        }
    }

    #[test]
    fn what_is_promised_below_a_directory_holds(
        deny in prop::collection::vec(entry(), 0..3),
        dir in path(),
        below in prop::collection::vec(path(), 12),
    ) {
        let deny: Vec<&str> =
            deny.iter().map(String::as_str).filter(|entry| pattern::check(entry, Side::Deny).is_ok()).collect();
        let rules = rules(None, &deny, &["/base/a/b"]);
        for op in [Op::Delete, Op::Read] {
            if rules.may_refuse_below(&dir, op) {
                continue;
            }
            for tail in below.iter().filter(|tail| **tail != b"/") {
                let path = [if dir == b"/" { &b""[..] } else { &dir }, tail].concat();
                prop_assert!(rules.judge(&path, op).is_allowed(), "{:?}", path);
            }
        }
    }

    #[test]
    fn globs_mean_what_globset_says(
        parts in prop::collection::vec(prop::sample::select(vec!["a", "ab", "*", "**", "a*", "?b", "[ab]", "{a,b}", "*.pem"]), 1..5),
        path in prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "x.pem", ".a", "bb"]), 1..5),
    ) {
        prop_assume!(parts.iter().any(|part| part.contains(['*', '?', '[', '{'])));
        let (entry, path) = (format!("/r/{}", parts.join("/")), format!("/r/{}", path.join("/")));
        let glob = globset::GlobBuilder::new(&entry).literal_separator(true).build().unwrap().compile_matcher();
        prop_assert_eq!(rules(Some(&[&entry]), &[], &[]).judge(path.as_bytes(), Op::Read).is_allowed(), glob.is_match(&path), "{} {}", entry, path);
    }

    #[test]
    fn roots_are_what_lies_below_no_other(
        paths in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!["a", "a-b", "a.b", "ab", "b"]), 1..5), 0..12),
    ) {
        let paths: Vec<String> = paths.iter().map(|parts| format!("/{}", parts.join("/"))).collect();
        let entries: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut wanted: Vec<&str> = entries.clone();
        wanted.retain(|path| !entries.iter().any(|dir| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))));
        wanted.sort_unstable();
        wanted.dedup();
        let rules = rules(Some(&entries), &[], &[]);
        let roots: BTreeSet<&[u8]> = rules.roots().collect();
        prop_assert_eq!(roots.into_iter().collect::<Vec<_>>(), wanted.iter().map(|path| path.as_bytes()).collect::<Vec<_>>());
    }
}

#[test]
fn roots_are_the_directories_that_allow_names() {
    let roots = |allow: &[&str]| -> Vec<String> {
        let rules = rules(Some(allow), &[], &[]);
        let roots: BTreeSet<&[u8]> = rules.roots().collect();
        roots.into_iter().map(|root| String::from_utf8(root.to_vec()).unwrap()).collect()
    };
    assert_eq!(
        roots(&["/srv/in", "out/**", "/srv/in/x", "/srv/in-b", "/d/*/x"]),
        ["/base/out", "/d", "/srv/in", "/srv/in-b"]
    );
    assert_eq!(roots(&["/d/x*"]), ["/d"]);
    assert_eq!(roots(&["**/x", "/d"]), ["/"]);
    assert_eq!(roots(&[]), Vec::<String>::new());
    assert_eq!(rules(None, &[], &[]).roots().collect::<Vec<_>>(), [b"/base"]);
}

#[test]
fn the_machine_and_the_base_directory_are_out_of_reach() {
    let wide = rules(Some(&["/proc", "/dev/shm", "/base", "/sys*"]), &[], &[]);
    for path in ["/proc", "/proc/1/environ", "/sys/kernel", "/dev/shm/x", "/dev"] {
        assert_eq!(
            wide.judge(path.as_bytes(), Op::Read),
            PathVerdict::NotAllowed(ElementRef::BASE),
            "{path}"
        );
    }
    assert_eq!(wide.judge(b"/system", Op::Read), PathVerdict::Allowed);
    assert_eq!(wide.judge(b"/base", Op::Delete), PathVerdict::ReadOnly(ElementRef::BASE));
    assert_eq!(wide.judge(b"/base/x", Op::Delete), PathVerdict::Allowed);
    assert_eq!(wide.judge(b"/base", Op::List), PathVerdict::Allowed);
}

#[test]
fn many_equal_entries_are_built_in_linear_time() {
    let entries: Vec<&str> = std::iter::repeat_n("**/x/**", 200_000).collect();
    let rules = rules(None, &entries, &[]);
    assert_eq!(rules.judge(b"/base/x", Op::Read), PathVerdict::Denied(element(0)));
}
