//! Languages of snippets: those that some endpoint of the catalogue runs.

use super::{Kind, list, word};
use crate::endpoint::{BaseValue, ENDPOINTS, Key, KeyKind};
use crate::lower::Context;
use crate::parse::Node;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Languages,
    takes: "a list of languages",
    doc: "A list of languages, each one that the server can run.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema: |_| list::schema(word::schema(&known())),
};

/// The languages that the catalogue declares as base values.
fn known() -> Vec<&'static str> {
    let base = ENDPOINTS.iter().flat_map(|decl| decl.base);
    let words = base.filter_map(|(key, value)| match value {
        BaseValue::Words(words) if *key == Key::ParamsLanguages => Some(*words),
        _ => None,
    });
    words.flatten().copied().collect()
}

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    let span = text.span;
    word::one_of(cx, key, &known(), text).map(|value| Spanned { value, span })
}
