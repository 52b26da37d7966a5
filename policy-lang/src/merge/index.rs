//! Per endpoint and key, the statements that speak of it, highest precedence first.
//!
//! Made from rules and statements alone, so that a policy read from disk and one merged from layers get the very same
//! order from the very same code.

use crate::endpoint::{Catalogue, Key};
use crate::layer::{Rank, Selector};
use crate::resolved::{
    EndpointIx, Resolved, ResolvedKey, ResolvedStatement, ResolvedValue, Rule, RuleIx, StatementIx,
};
use std::cmp::Reverse;

/// Lists the candidates of every endpoint. A key that an endpoint does not accept is left out there.
#[must_use]
pub(crate) fn index(resolved: &Resolved, catalogue: &Catalogue) -> Vec<Vec<ResolvedKey>> {
    let said_by_rule = by_rule(resolved);
    let mut said: Vec<Said> = Vec::with_capacity(said_by_rule.len() * 4);
    for (rule, decl) in by_precedence(resolved) {
        let Some(selector) = Selector::read(decl.specificity, &decl.selector, catalogue) else { continue };
        let from = said_by_rule.partition_point(|(by, ..)| *by < rule);
        let by_this = said_by_rule.get(from..).unwrap_or_default();
        for endpoint in selector.governs(catalogue) {
            let core = catalogue.is_core(endpoint);
            for (_, at, statement) in by_this.iter().take_while(|(by, ..)| *by == rule) {
                if catalogue.accepts(endpoint).contains(statement.key) && !(core && closes(statement)) {
                    said.push(Said { endpoint, key: statement.key, at: *at });
                }
            }
        }
    }
    // Stable: what has precedence stays in front.
    said.sort_by_key(|said| (said.endpoint, said.key));
    let mut endpoints = vec![Vec::new(); catalogue.len()];
    for said in said.chunk_by(|one, other| (one.endpoint, one.key) == (other.endpoint, other.key)) {
        let Some(first) = said.first() else { continue };
        if let Some(keys) = endpoints.get_mut(usize::from(first.endpoint.0)) {
            keys.push(candidates(resolved, first.key, said));
        }
    }
    endpoints
}

/// A statement that speaks of an endpoint.
struct Said {
    endpoint: EndpointIx,
    key: Key,
    at: StatementIx,
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

/// Statements by the rule that says them. They stand in that order, but a set read from disk is not trusted to.
fn by_rule(resolved: &Resolved) -> Vec<(RuleIx, StatementIx, &ResolvedStatement)> {
    let all = (0..).map(StatementIx).zip(&resolved.statements);
    let mut by_rule: Vec<_> = all.map(|(at, statement)| (statement.rule, at, statement)).collect();
    by_rule.sort_by_key(|(rule, ..)| *rule);
    by_rule
}

fn candidates(resolved: &Resolved, key: Key, said: &[Said]) -> ResolvedKey {
    let mut statements: Vec<StatementIx> = said.iter().map(|said| said.at).collect();
    if key == Key::Enabled {
        // Among equally specific rules of one layer a single `false` closes.
        statements
            .sort_by_key(|at| (Reverse(rank(resolved, *at)), !resolved.statement(*at).is_some_and(closes)));
    }
    ResolvedKey { key, statements }
}
