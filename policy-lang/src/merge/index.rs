//! Per endpoint and key, the statements that speak of it, highest precedence first.
//!
//! Made from rules and statements alone, so that a policy read from disk and one merged from layers get the very same
//! order from the very same code.

use crate::endpoint::{Catalogue, Key};
use crate::layer::{Rank, Selector};
use crate::resolved::{Resolved, ResolvedKey, ResolvedStatement, ResolvedValue, Rule, RuleIx, StatementIx};
use std::cmp::Reverse;

/// The statements of one endpoint, by the index of their key.
type Columns = [Vec<StatementIx>; Key::COUNT];

/// Lists the candidates of every endpoint. A key that an endpoint does not accept is left out there.
#[must_use]
pub(crate) fn index(resolved: &Resolved, catalogue: &Catalogue) -> Vec<Vec<ResolvedKey>> {
    let mut table: Vec<Columns> = std::iter::repeat_with(Columns::default).take(catalogue.len()).collect();
    let by_rule = statements_by_rule(resolved);
    for (rule, decl) in by_precedence(resolved) {
        let said = by_rule.get(rule.0 as usize).map_or(&[][..], |range| range.as_slice());
        let Some(selector) = Selector::read(decl.specificity, &decl.selector, catalogue) else { continue };
        for endpoint in selector.governs(catalogue) {
            let Some(columns) = table.get_mut(usize::from(endpoint.0)) else { continue };
            let core = catalogue.is_core(endpoint);
            for (at, statement) in said {
                if !catalogue.accepts(endpoint).contains(statement.key) || (core && closes(statement)) {
                    continue;
                }
                if let Some(column) = columns.get_mut(statement.key.index()) {
                    column.push(*at);
                }
            }
        }
    }
    table.into_iter().map(|columns| finish(resolved, columns)).collect()
}

/// Whether the statement closes what it speaks of.
pub(crate) fn closes(statement: &ResolvedStatement) -> bool {
    statement.key == Key::Enabled && statement.value == ResolvedValue::Bool(false)
}

/// The precedence of the rule that says a statement.
pub(crate) fn rank(resolved: &Resolved, statement: StatementIx) -> Option<Rank> {
    resolved.rule(resolved.statement(statement)?.rule).map(Rule::rank)
}

/// Rules by falling precedence. Among equals the name decides, so that the order of keys in a document never does.
fn by_precedence(resolved: &Resolved) -> Vec<(RuleIx, &Rule)> {
    let mut rules: Vec<(RuleIx, &Rule)> =
        (0..).map(RuleIx).zip(&resolved.rules).skip(Resolved::BUILT_IN).collect();
    rules.sort_by_key(|(ix, rule)| (Reverse(rule.rank()), &*rule.name, &*rule.selector, *ix));
    rules
}

/// What each rule says. Statements stand in rule order, but a set read from disk is not trusted to.
fn statements_by_rule(resolved: &Resolved) -> Vec<Vec<(StatementIx, &ResolvedStatement)>> {
    let mut by_rule = vec![Vec::new(); resolved.rules.len()];
    for (at, statement) in (0..).map(StatementIx).zip(&resolved.statements) {
        if let Some(said) = by_rule.get_mut(statement.rule.0 as usize) {
            said.push((at, statement));
        }
    }
    by_rule
}

fn finish(resolved: &Resolved, mut columns: Columns) -> Vec<ResolvedKey> {
    if let Some(enabled) = columns.get_mut(Key::Enabled.index()) {
        // Among equally specific rules of one layer a single `false` closes.
        enabled
            .sort_by_key(|at| (Reverse(rank(resolved, *at)), !resolved.statement(*at).is_some_and(closes)));
    }
    Key::ALL
        .into_iter()
        .zip(columns)
        .filter(|(_, statements)| !statements.is_empty())
        .map(|(key, statements)| ResolvedKey { key, statements })
        .collect()
}
