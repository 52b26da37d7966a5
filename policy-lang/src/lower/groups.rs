//! Under `groups`: a group name, and `true`, `false` or a rule. The same as `group:NAME` under `endpoints`.

use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::{EndpointId, Group};
use crate::layer::{Block, Selector};
use crate::lower::selector::GROUP_PREFIX;
use crate::lower::words::{self, Level};
use crate::lower::{Context, alternatives, indent, keys, listed, rule};
use crate::parse::{Node, NodeKind};
use crate::source::Span;

/// Reads every entry of `groups`.
pub(crate) fn read(cx: &mut Context<'_>, node: Node<'_>, blocks: &mut Vec<Block>) {
    if matches!(node.kind, NodeKind::Invalid) {
        return;
    }
    let NodeKind::Map(entries) = node.kind else {
        let report = cx.wrong_type("`groups`", "a mapping of group names", &node);
        return cx.emit(report);
    };
    let entries = indent::mend(cx, entries, |_, key| words::rule_key(key).is_some());
    for mut entry in entries {
        let selector = match Group::from_name(&entry.key) {
            Some(group) => Some(Selector::Group(group)),
            None if words::misplaced(&entry.key, Level::Groups).is_some() => {
                keys::foreign(cx, Level::Groups, &entry);
                // A rule of an endpoint is read on; what else belongs elsewhere is none.
                if EndpointId::from_name(&entry.key).is_none() {
                    entry.value.kind = NodeKind::Invalid;
                }
                None
            }
            None => {
                let report = unknown(cx, &entry.key, entry.key_span, "");
                cx.inside(entry.value.via, |cx| cx.emit(report));
                None
            }
        };
        let via = entry.value.via;
        let block = cx.value_of(entry.key_span, via, |cx| {
            rule::block(cx, selector, entry.key_span, entry.value, rule::Short::Yes)
        });
        blocks.extend(block);
    }
}

/// The finding that there is no such group. `prefix` is what stands before the name at `span`.
pub(crate) fn unknown(cx: &Context<'_>, name: &str, span: Span, prefix: &str) -> Diagnostic {
    let all = Group::ALL.map(Group::as_str);
    let report = Diagnostic::new(Code::UnknownGroup, format!("unknown group {}", quoted(name))).at(span);
    if name.contains(['*', '?', '{', '[']) {
        return report.help("globs stand under `endpoints`, and match endpoint ids");
    }
    let bare = name.strip_prefix(GROUP_PREFIX).unwrap_or(name);
    let near = match Group::from_name(bare) {
        Some(group) => vec![group.as_str()],
        None => suggest::closest(bare, all),
    };
    if near.is_empty() {
        return report.help(format!("the groups are {}", listed(all)));
    }
    let help = format!("did you mean {}?", alternatives(near.iter().copied()));
    near.iter().fold(report.help(help), |report, near| {
        let replacement = cx.quoted_like(span, &format!("{prefix}{near}"));
        report.suggest(Suggestion::review(format!("write `{near}`"), span, replacement))
    })
}
