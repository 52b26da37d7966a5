//! Changes each rule of the document, one at a time, and asks the tests again: what no test notices is not tested.
//!
//! A mutant that changes no resolved value, or that would be refused, is none.

use super::coverage::is_observable;
use super::read::Suite;
use super::run::holds;
use crate::endpoint::{Catalogue, KEYS, Key, MergeLaw};
use crate::explain::show_value;
use crate::layer::{Layer, Statement, Value};
use crate::resolved::{List, ResolvedValue};
use crate::source::Span;
use crate::variant::{Effect, Stack};

/// The most elements of one list that are taken out one by one.
const ELEMENTS: usize = 16;

/// What came of changing a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Mutants that change what the policy says.
    pub total: usize,
    /// Those that a test noticed.
    pub noticed: usize,
    /// Those that no test noticed, in written order.
    pub survivors: Vec<Survivor>,
}

/// A change that no test noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// The rule that was changed, as documents name it: `endpoints.shell`.
    pub rule: String,
    /// The key.
    pub key: Key,
    /// What was done, as the end of a sentence.
    pub change: String,
    /// Where the value stands.
    pub at: Option<Span>,
}

impl Mutation {
    /// Noticed mutants in a hundred, rounded down; a hundred where there are none.
    #[must_use]
    pub fn score(&self) -> usize {
        (self.noticed * 100).checked_div(self.total).unwrap_or(100)
    }
}

/// Changes each rule of the document in turn. None where the policy as it stands cannot be made again.
#[must_use]
pub fn mutate(suites: &[&Suite], stack: &Stack<'_>, catalogue: &Catalogue) -> Option<Mutation> {
    let before = Effect::of(&stack.compile(stack.document.clone())?, catalogue);
    let mut result = Mutation { total: 0, noticed: 0, survivors: Vec::new() };
    for (block_at, block) in stack.document.blocks.iter().enumerate() {
        let seen = block.statements.iter().enumerate().filter(|(_, statement)| is_observable(statement.key));
        for (at, statement) in seen {
            for (change, value) in mutants(statement) {
                let mutant = with(&stack.document, block_at, at, value);
                let Some(policy) = stack.compile(mutant) else { continue };
                if Effect::of(&policy, catalogue) == before {
                    continue;
                }
                result.total += 1;
                if suites.iter().all(|suite| holds(suite, &policy)) {
                    result.survivors.push(Survivor {
                        rule: block.name.clone(),
                        key: statement.key,
                        change,
                        at: statement.value_span.or(statement.key_span),
                    });
                } else {
                    result.noticed += 1;
                }
            }
        }
    }
    Some(result)
}

/// The document with one value replaced, or taken out.
fn with(document: &Layer, block: usize, statement: usize, value: Option<Value>) -> Layer {
    let mut layer = document.clone();
    let Some(statements) = layer.blocks.get_mut(block).map(|block| &mut block.statements) else {
        return layer;
    };
    match value {
        Some(value) => {
            if let Some(statement) = statements.get_mut(statement) {
                statement.value = value;
            }
        }
        None if statement < statements.len() => {
            statements.remove(statement);
        }
        None => {}
    }
    layer
}

/// The mutants of one value, each with what was done; none for a value means that the key is taken out.
fn mutants(statement: &Statement) -> Vec<(String, Option<Value>)> {
    let key = statement.key;
    let accumulates = KEYS.get(key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
    let show = |value: u64| show_value(key, &ResolvedValue::Number(value));
    let mut all = Vec::new();
    match &statement.value {
        Value::Bool(value) => all.push((format!("{value} becomes {}", !value), Some(Value::Bool(!value)))),
        Value::Number(value) => {
            let more = value.saturating_mul(2);
            all.push((format!("{} becomes {}", show(*value), show(more)), Some(Value::Number(more))));
        }
        // Symlinks and the log, which no answer tells of.
        Value::Word(_) => {}
        Value::List(list) if accumulates => {
            for (at, element) in list.iter().enumerate().take(ELEMENTS) {
                let mut rest = list.clone();
                rest.remove(at);
                all.push((format!("`{}` is taken out", element.value), Some(Value::List(rest))));
            }
        }
        Value::List(list) => {
            if !list.is_empty() && key != Key::Scopes {
                all.push(("the list becomes empty".to_owned(), Some(Value::List(Vec::new()))));
            }
            let shown = List::of(list.iter().map(|element| &element.value));
            let shown = show_value(key, &ResolvedValue::List(shown));
            all.push((format!("{shown} is taken out"), None));
        }
    }
    all
}
