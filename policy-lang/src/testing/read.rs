//! A suite: `tests:` in a file of its own, beside `policy:` and `preset:`, or `server_tests:` in a template.

use super::IN_TEMPLATE;
use super::ask::{self, Ask};
use super::expect::{self, Expect};
use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::Catalogue;
use crate::lower::{Context, alternatives, listed};
use crate::parse::{self, Entry, Format, Node, NodeKind};
use crate::source::{SourceId, SourceMap, Span, Spanned};

/// The keys of a suite in a file of its own.
const SUITE: [&str; 3] = ["policy", "preset", "tests"];
/// The keys of a test.
const TEST: [&str; 3] = ["name", "request", "expect"];

/// The tests of one file.
#[derive(Debug, Default)]
pub struct Suite {
    /// The policy that is tested, as a path from the suite's own folder; none in a template, which is its own policy.
    pub policy: Option<Spanned<String>>,
    /// The preset that replaces the policy's.
    pub preset: Option<Spanned<String>>,
    /// Whether the file is its own policy: a template, or what cannot be read and is reported as a policy would be.
    pub own_policy: bool,
    /// The tests in written order, as far as they could be read.
    pub tests: Vec<Test>,
}

/// One test.
#[derive(Debug, Clone)]
pub struct Test {
    /// What it shows.
    pub name: Option<String>,
    /// Where it begins.
    pub span: Span,
    /// The call.
    pub ask: Ask,
    /// The answer.
    pub expect: Expect,
}

/// Whether a source holds a suite: the name of a key at the top tells.
#[must_use]
pub fn has_suite(sources: &SourceMap, source: SourceId) -> bool {
    let text = sources.text(source);
    let named = |key: &str| memchr::memmem::find(text.as_bytes(), key.as_bytes()).is_some();
    if !named(IN_TEMPLATE) && !named("tests") {
        return false;
    }
    let (root, _) = parse::parse(sources, source, Format::Auto);
    root.is_some_and(|root| root.get(IN_TEMPLATE).is_some() || root.get("tests").is_some())
}

/// Reads the suite of a source, with every mistake in it. Findings are sorted by place.
#[must_use]
pub fn read(
    sources: &SourceMap,
    source: SourceId,
    format: Format,
    catalogue: &Catalogue,
) -> (Suite, Vec<Diagnostic>) {
    let (root, mut found) = parse::parse(sources, source, format);
    let mut cx = Context::new(sources, source, catalogue);
    let template = |root: &Node<'_>| root.get(IN_TEMPLATE).is_some() || root.get("server").is_some();
    let mut suite = Suite { own_policy: root.as_ref().is_none_or(template), ..Suite::default() };
    if let Some(root) = root {
        document(&mut cx, root, &mut suite);
    }
    found.extend(cx.finish());
    crate::diag::sort(&mut found);
    (suite, found)
}

fn document(cx: &mut Context<'_>, root: Node<'_>, suite: &mut Suite) {
    let start = Span { end: root.span.start, ..root.span };
    let NodeKind::Map(mut entries) = root.kind else { return };
    if let Some(at) = entries.iter().position(|entry| entry.key == IN_TEMPLATE) {
        let entry = entries.swap_remove(at);
        return tests(cx, entry, suite);
    }
    let written = |key: &str| entries.iter().find(|entry| entry.key == key);
    if let (Some(server), None) = (written("server"), written("tests")) {
        let message = "this template holds no tests";
        let help = format!("write them as a list under `{IN_TEMPLATE}`, beside `server`");
        let finding = Diagnostic::new(Code::NoTests, message);
        return cx.emit(finding.at_saying(server.key_span, "nothing tests this policy").help(help));
    }
    let mut seen = false;
    for entry in entries {
        match &*entry.key {
            "policy" => suite.policy = cx.text("`policy`", entry.value).map(crate::lower::Text::spanned),
            "preset" => suite.preset = cx.text("`preset`", entry.value).map(crate::lower::Text::spanned),
            "tests" => {
                seen = true;
                tests(cx, entry, suite);
            }
            _ => unknown_key(cx, &entry, &SUITE, "a suite of tests"),
        }
    }
    if !seen {
        let message = "this file holds no tests";
        let help = format!("write them as a list under `tests`, or under `{IN_TEMPLATE}` in a template");
        cx.emit(Diagnostic::new(Code::NoTests, message).at(start).help(help));
    }
}

fn tests(cx: &mut Context<'_>, entry: Entry<'_>, suite: &mut Suite) {
    let key = entry.key_span;
    let items = match entry.value.kind {
        NodeKind::Seq(items) if !items.is_empty() => items,
        NodeKind::Invalid => return,
        NodeKind::Seq(_) | NodeKind::Null { .. } => {
            let message = format!("{} holds no test", quoted(&entry.key));
            let help = "a suite of no tests would always pass: write one, or remove the key";
            return cx.emit(
                Diagnostic::new(Code::NoTests, message).at_saying(key, "nothing is tested").help(help),
            );
        }
        _ => {
            let report = cx.wrong_type(&quoted(&entry.key), "a list of tests", &entry.value);
            return cx.emit(report);
        }
    };
    for item in items {
        let via = item.via;
        if let Some(test) = cx.inside(via, |cx| test(cx, item)) {
            suite.tests.push(test);
        }
    }
}

fn test(cx: &mut Context<'_>, node: Node<'_>) -> Option<Test> {
    let span = node.span;
    let entries = mapping(cx, "a test", node)?;
    let first = entries.first().map_or(span, |entry| entry.key_span);
    let (mut name, mut ask, mut asked, mut wanted, mut expected) = (None, None, false, None, false);
    for entry in entries {
        match &*entry.key {
            "name" => name = cx.text("`name`", entry.value).map(|text| text.value.into_owned()),
            "request" => {
                asked = true;
                ask = cx.value_of(entry.key_span, entry.value.via, |cx| ask::read(cx, entry.value));
            }
            "expect" => {
                expected = true;
                wanted = cx.value_of(entry.key_span, entry.value.via, |cx| expect::read(cx, entry.value));
            }
            _ => {
                // A key that is misspelt is one mistake, and not a second one for its absence.
                let near = suggest::closest(&entry.key, TEST);
                asked |= near.contains(&"request");
                expected |= near.contains(&"expect");
                unknown_key(cx, &entry, &TEST, "a test");
            }
        }
    }
    if !asked {
        let message = "this test asks nothing";
        let help =
            "name the call: `request: shell`, or `request: { endpoint: download, path: /home/user/a }`";
        cx.emit(Diagnostic::new(Code::TestAssertsNothing, message).at(first).help(help));
    }
    if !expected {
        let message = "this test expects nothing, so no policy could fail it";
        let help =
            "say what should come of it: `expect: allow`, or `expect: { verdict: deny, code: path_denied }`";
        cx.emit(Diagnostic::new(Code::TestAssertsNothing, message).at(first).help(help));
    }
    Some(Test { name, span: first, ask: ask?, expect: wanted? })
}

/// The entries of a mapping, or a finding.
pub(super) fn mapping<'s>(cx: &mut Context<'_>, what: &str, node: Node<'s>) -> Option<Vec<Entry<'s>>> {
    match node.kind {
        NodeKind::Map(entries) => return Some(entries),
        NodeKind::Invalid => return None,
        _ => {}
    }
    let report = cx.wrong_type(what, "a mapping", &node);
    cx.emit(report);
    None
}

/// The finding that a key is none of `keys`.
pub(super) fn unknown_key(cx: &mut Context<'_>, entry: &Entry<'_>, keys: &[&'static str], what: &str) {
    let message = format!("unknown key {} in {what}", quoted(&entry.key));
    let finding = Diagnostic::new(Code::UnknownKey, message).at(entry.key_span);
    let near = suggest::closest(&entry.key, keys.iter().copied());
    let finding = match near.as_slice() {
        [] => finding.help(format!("the keys here are {}", listed(keys.iter().copied()))),
        near => near.iter().fold(
            finding.help(format!("did you mean {}?", alternatives(near.iter().copied()))),
            |finding, near| {
                let fixed = cx.quoted_like(entry.key_span, near);
                finding.suggest(Suggestion::review(format!("write `{near}`"), entry.key_span, fixed))
            },
        ),
    };
    cx.emit(finding);
}

/// The finding that a word is none of `words`.
pub(super) fn unknown_word(cx: &mut Context<'_>, what: &str, word: &str, span: Span, words: &[&'static str]) {
    let finding = Diagnostic::new(Code::UnknownValue, format!("{} is no {what}", quoted(word))).at(span);
    let near = suggest::closest(word, words.iter().copied());
    let finding = match near.as_slice() {
        [] => finding.help(format!("it is one of {}", alternatives(words.iter().copied()))),
        near => near.iter().fold(
            finding.help(format!("did you mean {}?", alternatives(near.iter().copied()))),
            |finding, near| {
                let fixed = cx.quoted_like(span, near);
                finding.suggest(Suggestion::review(format!("write `{near}`"), span, fixed))
            },
        ),
    };
    cx.emit(finding);
}
