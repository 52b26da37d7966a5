//! Keys that do not belong where they stand: unknown to the language, or known at another level.

use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::{KEYS, MergeLaw};
use crate::lower::words::{self, Level, Misplaced};
use crate::lower::{Context, alternatives, listed, synonyms};
use crate::parse::{Entry, NodeKind};
use crate::source::Span;

/// The foreign keys of one mapping. They are reported when the rest of it is read, since a fix may only write a key
/// that is not there yet.
pub(crate) struct Foreign<'s> {
    level: Level,
    entries: Vec<Entry<'s>>,
    taken: Vec<&'static str>,
}

impl<'s> Foreign<'s> {
    /// None yet, in a mapping of this level.
    pub(crate) const fn of(level: Level) -> Self {
        Self { level, entries: Vec::new(), taken: Vec::new() }
    }

    /// Notes a key that the mapping has.
    pub(crate) fn taken(&mut self, key: Option<&'static str>) {
        self.taken.extend(key);
    }

    /// Keeps an entry whose key does not belong.
    pub(crate) fn push(&mut self, entry: Entry<'s>) {
        self.entries.push(entry);
    }

    /// Reports them all. Gives back the mappings under keys that are plainly misspelt, each under the key that was meant,
    /// for what stands in them to be read for its own mistakes.
    pub(crate) fn report(mut self, cx: &mut Context<'_>) -> Vec<Entry<'s>> {
        let mut misspelt: Vec<Entry<'s>> = Vec::new();
        for mut entry in std::mem::take(&mut self.entries) {
            let near = near(cx, self.level, &entry);
            let known = words::misplaced(&entry.key, self.level)
                .filter(|known| near.is_empty() || !known.is_a_name());
            let finding = match &known {
                Some(known) => self.misplaced(cx, &entry, known),
                None => unknown(cx, self.level, &entry, &near),
            };
            cx.inside(entry.value.via, |cx| cx.emit(finding));
            let meant = near.first().filter(|key| {
                let twice = self.taken.contains(key) || misspelt.iter().any(|entry| entry.key == **key);
                known.is_none() && near.len() == 1 && !twice
            });
            if let (Some(meant), NodeKind::Map(inner)) = (meant, &entry.value.kind)
                && !inner.is_empty()
            {
                entry.key = (*meant).into();
                misspelt.push(entry);
            }
        }
        misspelt
    }

    fn misplaced(&mut self, cx: &Context<'_>, entry: &Entry<'_>, known: &Misplaced) -> Diagnostic {
        let message = format!("{} belongs {}", quoted(&entry.key), known.place);
        let label = format!("not a key of {}", self.level.name());
        let finding = Diagnostic::new(Code::MisplacedKey, message).at_saying(entry.key_span, label);
        let Some((parent, key)) = known.under else { return finding.help(known.hint) };
        let Some(value) = one_line(cx, entry) else {
            return finding.help(format!("write `{parent}:` and put `{key}` into it"));
        };
        let inner = format!("{}: {value}", cx.quoted_like(entry.key_span, key));
        let nested = format!("{}: {{ {inner} }}", cx.quoted_like(entry.key_span, parent));
        let finding = finding.help(format!("write `{nested}`"));
        if parent_level(parent) != self.level || self.taken.contains(&parent) {
            return finding;
        }
        self.taken.push(parent);
        let whole = Span { end: entry.value.span.end, ..entry.key_span };
        finding.suggest(Suggestion::review(format!("move it under `{parent}`"), whole, nested))
    }
}

/// Reports the one key of an entry that `level` does not have.
pub(crate) fn foreign(cx: &mut Context<'_>, level: Level, entry: &Entry<'_>) {
    let mut foreign = Foreign::of(level);
    foreign.push(Entry {
        key: entry.key.clone(),
        key_span: entry.key_span,
        value: crate::parse::Node { kind: crate::parse::NodeKind::Invalid, ..entry.value },
    });
    let _ = foreign.report(cx);
}

/// The level that has the key `parent`.
fn parent_level(parent: &str) -> Level {
    if words::DOCUMENT.contains(&parent) { Level::Document } else { Level::Rule }
}

/// The entry's value as written, where it is on one line and stands right after its key.
fn one_line<'a>(cx: &Context<'a>, entry: &Entry<'_>) -> Option<&'a str> {
    let whole = Span { end: entry.value.span.end, ..entry.key_span };
    let follows = entry.value.span.source == whole.source && entry.value.span.start >= whole.start;
    let value = cx.slice(entry.value.span);
    (follows && !value.is_empty() && !cx.slice(whole).contains('\n')).then_some(value)
}

/// The keys of the place that an entry's key may be a misspelling of.
fn near(cx: &Context<'_>, level: Level, entry: &Entry<'_>) -> Vec<&'static str> {
    if cx.is_flooded() {
        return Vec::new();
    }
    suggest::closest(&entry.key, candidates(cx, level))
}

fn unknown(cx: &Context<'_>, level: Level, entry: &Entry<'_>, near: &[&'static str]) -> Diagnostic {
    let message = format!("unknown key {} in {}", quoted(&entry.key), level.name());
    let finding = Diagnostic::new(Code::UnknownKey, message).at(entry.key_span);
    if near.is_empty() {
        let said = synonyms::help(&entry.key, level).map(str::to_owned);
        let help = said.or_else(|| elsewhere(cx, level, entry)).or_else(|| {
            let keys = listed(candidates(cx, level));
            (!keys.is_empty()).then(|| format!("the keys here are {keys}"))
        });
        return match help {
            Some(help) => finding.help(help),
            None => finding,
        };
    }
    let mut help = format!("did you mean {}?", alternatives(near.iter().copied()));
    if near.first().is_some_and(|key| narrows(key)) && level != Level::Token {
        help.push_str(LOST);
    }
    near.iter().fold(finding.help(help), |finding, key| {
        let (message, fixed) = (format!("write `{key}`"), cx.quoted_like(entry.key_span, key));
        finding.suggest(if near.len() == 1 && only_denies(key) {
            Suggestion::safe(message, entry.key_span, fixed)
        } else {
            Suggestion::review(message, entry.key_span, fixed)
        })
    })
}

/// What a misspelt key costs.
const LOST: &str = " as written, the restriction that stands under it is lost";

/// The help for a misspelt key of a section that was written one level too high.
fn elsewhere(cx: &Context<'_>, level: Level, entry: &Entry<'_>) -> Option<String> {
    if level != Level::Rule {
        return None;
    }
    let taken = KEYS.iter().filter(|decl| cx.takes(decl.key)).filter_map(|decl| decl.name.split_once('.'));
    let pairs: Vec<(&str, &str)> = taken.collect();
    let near = suggest::closest(&entry.key, pairs.iter().map(|(_, key)| *key));
    let (section, key) = pairs.iter().find(|(_, key)| near.first() == Some(key))?;
    Some(format!("did you mean `{key}` under `{section}`?{LOST}"))
}

/// The keys that are legal here and do something for the endpoints in question.
fn candidates(cx: &Context<'_>, level: Level) -> Vec<&'static str> {
    match level {
        Level::Section(section) => {
            words::section_keys(section).filter(|(_, key)| cx.takes(*key)).map(|(name, _)| name).collect()
        }
        _ => level.keys(),
    }
}

/// Whether losing the key can leave something open that its author meant to close.
fn narrows(key: &str) -> bool {
    !matches!(key, "audit" | "id" | "preset" | "base_dir")
}

/// Whether the key can only ever take away.
fn only_denies(key: &str) -> bool {
    let denies = |name: &str| name.split_once('.').is_some_and(|(_, own)| own == key);
    KEYS.iter().any(|decl| decl.law == MergeLaw::Accumulate && denies(decl.name))
}
