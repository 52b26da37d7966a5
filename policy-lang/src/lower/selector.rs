//! Under `endpoints`: what a key speaks of (an id, a glob over ids, a group, or everything) and its rule.

use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::catalogue::CUSTOM_PREFIX;
use crate::endpoint::{Catalogue, EndpointId, Group, IdGlob};
use crate::layer::{Block, Selector};
use crate::lower::words::{self, Level};
use crate::lower::{Context, alternatives, groups, indent, keys, rule};
use crate::parse::{Entry, Node, NodeKind};
use crate::rules::glob;
use crate::source::Span;

/// The selector that speaks of every endpoint.
pub(crate) const DEFAULTS: &str = "@defaults";
/// What a selector of a group begins with.
pub(crate) const GROUP_PREFIX: &str = "group:";

/// Reads every entry of `endpoints`.
pub(crate) fn read(cx: &mut Context<'_>, node: Node<'_>, blocks: &mut Vec<Block>) {
    if matches!(node.kind, NodeKind::Invalid) {
        return;
    }
    let NodeKind::Map(entries) = node.kind else {
        let report = cx.wrong_type("`endpoints`", "a mapping of selectors", &node);
        return cx.emit(report);
    };
    let entries = indent::mend(cx, entries, |_, key| words::rule_key(key).is_some());
    for mut entry in entries {
        let selector = cx.inside(entry.value.via, |cx| classify(cx, &entry));
        if selector.is_none() && is_elsewhere(&entry.key) {
            // What belongs elsewhere is no rule.
            entry.value.kind = NodeKind::Invalid;
        }
        let via = entry.value.via;
        let block = cx.value_of(entry.key_span, via, |cx| {
            rule::block(cx, selector, entry.key_span, entry.value, rule::Short::Yes)
        });
        blocks.extend(block);
    }
}

/// Whether a word can stand under `endpoints`.
pub(crate) fn is_selector(word: &str) -> bool {
    EndpointId::from_name(word).is_some()
        || word == DEFAULTS
        || word.starts_with(GROUP_PREFIX)
        || word.starts_with(CUSTOM_PREFIX)
        || IdGlob::is_glob(word)
}

/// What a word under `endpoints` speaks of; none for what is no selector of this catalogue.
pub(crate) fn of(written: &str, catalogue: &Catalogue) -> Option<Selector> {
    if let Some(id) = EndpointId::from_name(written) {
        return Some(Selector::Exact(id));
    }
    if catalogue.resolve(written).is_some() {
        return Some(Selector::Custom(written.to_owned()));
    }
    if let Some(name) = written.strip_prefix(GROUP_PREFIX) {
        return Group::from_name(name).map(Selector::Group);
    }
    match written {
        DEFAULTS => Some(Selector::Defaults),
        glob if IdGlob::is_glob(glob) && IdGlob::new(glob).is_ok() => Some(Selector::Glob(glob.to_owned())),
        _ => None,
    }
}

/// What the key of an entry speaks of, or a finding.
fn classify(cx: &mut Context<'_>, entry: &Entry<'_>) -> Option<Selector> {
    let written = &*entry.key;
    if let Some(id) = EndpointId::from_name(written) {
        return Some(Selector::Exact(id));
    }
    if cx.catalogue.resolve(written).is_some() {
        return Some(Selector::Custom(written.to_owned()));
    }
    if written == DEFAULTS {
        return Some(Selector::Defaults);
    }
    if let Some(name) = written.strip_prefix(GROUP_PREFIX) {
        let group = Group::from_name(name);
        if group.is_none() {
            let report = groups::unknown(cx, name, entry.key_span, GROUP_PREFIX);
            cx.emit(report);
        }
        return group.map(Selector::Group);
    }
    if IdGlob::is_glob(written) {
        return a_glob(cx, written, entry.key_span);
    }
    if let Some(group) = Group::from_name(written) {
        a_group(cx, group, entry.key_span);
    } else if is_elsewhere(written) {
        keys::foreign(cx, Level::Endpoints, entry);
    } else {
        unknown(cx, written, entry.key_span);
    }
    None
}

/// Whether a word is a key of another level.
fn is_elsewhere(word: &str) -> bool {
    Group::from_name(word).is_none() && words::misplaced(word, Level::Endpoints).is_some()
}

/// A glob must be well formed and match an endpoint.
fn a_glob(cx: &mut Context<'_>, written: &str, span: Span) -> Option<Selector> {
    if let Err(fault) = glob::check(written) {
        let report = glob::report(cx, written, span, &fault);
        cx.emit(report);
        return None;
    }
    let selector = Selector::Glob(written.to_owned());
    if !cx.catalogue.matching(&selector).is_empty() {
        return Some(selector);
    }
    let message = format!("{} matches no endpoint", quoted(written));
    let report = Diagnostic::new(Code::SelectorMatchesNothing, message).at(span);
    // `GET /process/{pid}` is a door, whose parameter looks like a glob.
    if suggest::is_door(written) {
        let report = nearest(cx, report, written, span);
        cx.emit(report);
        return None;
    }
    let near: Vec<_> = suggest::closest(written.trim_matches('*').trim_matches('_'), prefixes())
        .into_iter()
        .map(|prefix| format!("{prefix}_*"))
        .collect();
    let report = match near.first() {
        Some(first) => report.help(format!("did you mean `{first}`?")).suggest(Suggestion::review(
            format!("write `{first}`"),
            span,
            format!("\"{first}\""),
        )),
        None => report.help("globs are matched against whole endpoint ids, such as `files_list`"),
    };
    cx.emit(report);
    None
}

/// The first words that several ids share.
fn prefixes() -> Vec<&'static str> {
    let words = EndpointId::ALL.into_iter().filter_map(|id| Some(id.as_str().split_once('_')?.0));
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// A group's name without `group:` before it.
fn a_group(cx: &mut Context<'_>, group: Group, span: Span) {
    let name = group.as_str();
    let report =
        Diagnostic::new(Code::MisplacedKey, format!("`{name}` is a group and belongs under `groups`"))
            .at_saying(span, "an endpoint id, a glob or `group:NAME` stands here")
            .help(format!("write `group:{name}` here, or move it under `groups`"))
            .suggest(Suggestion::review(
                format!("write `group:{name}`"),
                span,
                cx.quoted_like(span, &format!("{GROUP_PREFIX}{name}")),
            ));
    cx.emit(report);
}

fn unknown(cx: &mut Context<'_>, written: &str, span: Span) {
    let report =
        Diagnostic::new(Code::UnknownEndpoint, format!("unknown endpoint {}", quoted(written))).at(span);
    let report = nearest(cx, report, written, span);
    cx.emit(report);
}

/// The finding with the ids that may be meant.
fn nearest(cx: &Context<'_>, report: Diagnostic, written: &str, span: Span) -> Diagnostic {
    let near: Vec<String> = match written {
        _ if cx.is_flooded() => Vec::new(),
        _ if written.starts_with('@') => vec![DEFAULTS.to_owned()],
        _ => suggest::endpoint(written, cx.catalogue).into_iter().map(str::to_owned).collect(),
    };
    let report = if !near.is_empty() {
        report.help(format!("did you mean {}?", alternatives(near.iter().map(String::as_str))))
    } else if written.starts_with(CUSTOM_PREFIX) {
        report.help("custom routes are known to the check when it is given the file that declares them")
    } else {
        report.help("list the ids with `agent-sandbox-server endpoints`")
    };
    near.iter().fold(report, |report, near| {
        let quoted = if near.starts_with('@') { format!("\"{near}\"") } else { cx.quoted_like(span, near) };
        report.suggest(Suggestion::review(format!("write `{near}`"), span, quoted))
    })
}
