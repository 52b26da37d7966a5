//! The keys of a document.

use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::Group;
use crate::layer::{Layer, Selector};
use crate::lower::keys::Foreign;
use crate::lower::words::{self, Level};
use crate::lower::{Context, alternatives, auth, base_dir, groups, indent, listed, presets, rule, selector};
use crate::parse::{Entry, Node};
use crate::source::Spanned;

/// Reads every key of a document into its layer.
pub(crate) fn read(cx: &mut Context<'_>, entries: Vec<Entry<'_>>, layer: &mut Layer) {
    let entries = indent::mend(cx, entries, belongs);
    let mut foreign = Foreign::of(Level::Document);
    for entry in entries {
        let (key, via) = (entry.key_span, entry.value.via);
        foreign.taken(words::DOCUMENT.iter().find(|known| **known == entry.key).copied());
        match &*entry.key {
            "preset" => layer.preset = cx.value_of(key, via, |cx| preset(cx, entry.value)),
            "base_dir" => layer.base_dir = cx.value_of(key, via, |cx| base_dir::read(cx, entry.value)),
            "groups" => cx.value_of(key, via, |cx| groups::read(cx, entry.value, &mut layer.blocks)),
            "endpoints" => cx.value_of(key, via, |cx| selector::read(cx, entry.value, &mut layer.blocks)),
            "auth" => layer.tokens = cx.value_of(key, via, |cx| auth::read(cx, entry.value)),
            "defaults" => cx.value_of(key, via, |cx| {
                let block = rule::block(cx, Some(Selector::Defaults), key, entry.value, rule::Short::No);
                layer.blocks.extend(block);
            }),
            _ => foreign.push(entry),
        }
    }
    let misspelt = foreign.report(cx);
    if !misspelt.is_empty() {
        read(cx, misspelt, &mut Layer::empty(layer.kind));
    }
}

/// Whether `key` belongs under the key `parent` of a document.
fn belongs(parent: &str, key: &str) -> bool {
    match parent {
        "groups" => Group::from_name(key).is_some(),
        "endpoints" => selector::is_selector(key),
        "defaults" => words::rule_key(key).is_some(),
        "auth" => words::AUTH.contains(&key),
        _ => false,
    }
}

/// `preset:` is the name of one.
fn preset(cx: &mut Context<'_>, node: Node<'_>) -> Option<Spanned<String>> {
    let name = cx.text("`preset`", node)?;
    if presets::get(&name.value).is_some() {
        return Some(name.spanned());
    }
    let all = presets::PRESETS.iter().map(|preset| preset.name);
    let report =
        Diagnostic::new(Code::UnknownPreset, format!("unknown preset {}", quoted(&name.value))).at(name.span);
    let near = suggest::closest(&name.value, all.clone());
    let report = if near.is_empty() {
        report.help(format!("the presets are {}", listed(all)))
    } else {
        report.help(format!("did you mean {}?", alternatives(near.iter().copied())))
    };
    let report = near.iter().fold(report, |report, near| {
        report.suggest(Suggestion::review(
            format!("write `{near}`"),
            name.span,
            cx.quoted_like(name.span, near),
        ))
    });
    cx.emit(report);
    None
}
