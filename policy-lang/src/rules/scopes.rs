//! Scopes: of a rule, what a caller must hold; of a token, what its holder has.

use super::word::WORD;
use super::{Kind, list, word};
use crate::diag::{Code, Diagnostic, quoted, suggest};
use crate::endpoint::{BUNDLES, Key, KeyKind, SCOPES, Scope};
use crate::layer::Value;
use crate::lower::{Context, Holder, Text, alternatives};
use crate::parse::{Node, NodeKind};
use crate::resolved::List;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Scopes,
    takes: "a list of scopes",
    doc: "A list of scopes, never empty; the caller needs all of them. `commands:run:NAME` is the scope of one \
          registered command.",
    read,
    schema: |_| schema(&[]),
};

/// What the scope of one command begins with.
const COMMAND: &str = "commands:run:";

fn read(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Value> {
    let what = format!("`{}`", key.as_str());
    of(cx, &what, node, false).map(Value::List)
}

/// Reads the scopes of a token, which may name bundles too.
pub(crate) fn of_token(cx: &mut Context<'_>, node: Node<'_>) -> Option<Vec<Spanned<String>>> {
    of(cx, "`scopes` of a token", node, true)
}

fn of(cx: &mut Context<'_>, what: &str, node: Node<'_>, bundles: bool) -> Option<Vec<Spanned<String>>> {
    let items = match node.kind {
        NodeKind::Seq(items) if items.is_empty() => {
            let report = Diagnostic::new(Code::WrongType, format!("{what} lists no scope")).at(node.span);
            cx.emit(report.help(if bundles {
                "list what its holder may do, such as `[\"files:read\"]`"
            } else {
                "list at least one, or leave the key out"
            }));
            return None;
        }
        NodeKind::Seq(items) => items,
        _ => {
            list::not_a_list(cx, what, KIND.takes, &node);
            return None;
        }
    };
    let asked = items.len();
    let mut scopes = Vec::with_capacity(asked);
    for item in items.into_iter().filter(|item| !matches!(item.kind, NodeKind::Invalid)) {
        let via = item.via;
        scopes.extend(cx.inside(via, |cx| {
            let text = cx.holding(Holder::List, |cx| cx.text(&format!("an element of {what}"), item))?;
            known(cx, text, bundles)
        }));
    }
    // A rule's list without what was refused asks less than was written, which no later stage shall remark upon.
    (bundles || scopes.len() == asked).then_some(scopes)
}

fn known(cx: &mut Context<'_>, text: Text<'_>, bundles: bool) -> Option<Spanned<String>> {
    let bundle = BUNDLES.iter().find(|bundle| bundle.name == text.value);
    if is_scope(&text.value) || (bundles && bundle.is_some()) {
        return Some(text.spanned());
    }
    let shown = quoted(&text.value);
    if let Some(bundle) = bundle {
        let scopes = alternatives(bundle.scopes.iter().map(|scope| scope.as_str())).replace(" or ", " and ");
        let message = format!("{shown} is a bundle, which only a token may hold");
        let report = Diagnostic::new(Code::UnknownScope, message).at(text.span);
        cx.emit(report.help(format!("list the scopes that are needed: it stands for {scopes}")));
        return None;
    }
    let report = Diagnostic::new(Code::UnknownScope, format!("unknown scope {shown}")).at(text.span);
    let near = if text.value.starts_with(COMMAND) {
        vec![Scope::CommandsRun.as_str()]
    } else {
        suggest::closest(&text.value, names(bundles))
    };
    let there_are = || format!("the scopes are {}", alternatives(names(bundles)));
    let report = word::nearest(cx, report, &text, &near, there_are);
    cx.emit(report);
    None
}

/// Whether a name is a scope: a declared one, `*`, or that of one command.
#[must_use]
pub(crate) fn is_scope(name: &str) -> bool {
    if let Some(command) = name.strip_prefix(COMMAND) {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        return !command.is_empty() && command.chars().all(word);
    }
    name == "*" || Scope::from_name(name).is_some()
}

/// Whether a list is one that a rule may ask for as it stands, told without reading it.
pub(crate) fn are_known(list: &List) -> bool {
    !list.is_empty() && list.values().all(is_scope)
}

fn names(bundles: bool) -> impl Iterator<Item = &'static str> {
    let scopes = SCOPES.iter().map(|decl| decl.name).filter(|name| !name.contains('{'));
    scopes.chain(BUNDLES.iter().map(|bundle| bundle.name).filter(move |_| bundles))
}

/// The schema of a list of scopes, `more` names included.
pub(crate) fn schema(more: &[&'static str]) -> serde_json::Value {
    let names: Vec<_> = names(false).chain(["*"]).chain(more.iter().copied()).collect();
    let mut list = list::schema(serde_json::json!({
        "type": "string",
        "anyOf": [{ "enum": names }, { "pattern": format!(r"^commands:run:({WORD}|\.)+$") }]
    }));
    if let Some(list) = list.as_object_mut() {
        list.insert("minItems".to_owned(), 1.into());
    }
    list
}

/// The schema of a token's scopes: bundles may stand there too.
pub(crate) fn token_schema() -> serde_json::Value {
    let bundles: Vec<_> = BUNDLES.iter().map(|bundle| bundle.name).collect();
    schema(&bundles)
}

#[cfg(test)]
mod tests {
    use super::is_scope;

    #[test]
    fn scopes() {
        for good in ["files:read", "*", "commands:run", "commands:run:hello", "core:read"] {
            assert!(is_scope(good), "{good}");
        }
        for bad in [
            "",
            "files",
            "files:*",
            "commands:run:",
            "commands:run:*",
            "commands:run:{name}",
            "sandboxes:exec",
        ] {
            assert!(!is_scope(bad), "{bad}");
        }
    }
}
