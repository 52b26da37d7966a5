//! `configures-closed-endpoint`: a rule that sets limits or paths and whose endpoints all stay closed.

use super::Context;
use super::context::{Authored, beside, place};
use crate::diag::{Code, Diagnostic};
use crate::endpoint::{KEYS, Key, MergeLaw};
use crate::resolved::{ResolvedValue, RuleIx};
use std::collections::BTreeMap;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut rules: BTreeMap<RuleIx, Vec<Authored<'_>>> = BTreeMap::new();
    for authored in context.authored() {
        rules.entry(authored.said.rule).or_default().push(authored);
    }
    rules.values().filter(|says| configures(says)).filter_map(|says| finding(context, says)).collect()
}

/// Whether the rule grants something. One that itself closes, or that only adds denies, believes nothing open.
fn configures(says: &[Authored<'_>]) -> bool {
    let closes = |authored: &Authored<'_>| {
        authored.said.key == Key::Enabled && authored.said.value == ResolvedValue::Bool(false)
    };
    let grants = |authored: &Authored<'_>| {
        let decl = KEYS.get(authored.said.key.index());
        authored.said.key != Key::Enabled && decl.is_some_and(|decl| decl.law == MergeLaw::Replace)
    };
    says.iter().any(grants) && !says.iter().any(closes)
}

fn finding(context: &Context<'_>, says: &[Authored<'_>]) -> Option<Diagnostic> {
    let block = says.first()?.block;
    let governed = context.governed(&block.selector);
    if governed.is_empty() || governed.iter().any(|endpoint| context.is_open(*endpoint)) {
        return None;
    }
    let closer = *context.candidates(*governed.first()?, Key::Enabled).first()?;
    let (rule, selector) = (context.rule_name(closer), &block.selector);
    let message = match governed.as_slice() {
        [only] => format!(
            "`{}` stays closed by `{rule}`, so what is set for it has no effect",
            context.catalogue.name(*only)
        ),
        all => format!(
            "all {} endpoints of `{selector}` stay closed, so what is set for them has no effect",
            all.len()
        ),
    };
    let help = match governed.as_slice() {
        [_] => "to open it, add `enabled: true` to this rule; to keep it closed, remove the rule".to_owned(),
        _ => format!("`{rule}` closes them; to open some, set `enabled: true` under their exact ids"),
    };
    let finding = place(
        Diagnostic::new(Code::ConfiguresClosedEndpoint, message).help(help),
        block.span,
        "configures what is closed",
    );
    let written = context.merged.written(closer).and_then(|written| written.value_span);
    Some(context.affecting(beside(finding, written, format!("closed here by `{rule}`")), selector, &governed))
}
