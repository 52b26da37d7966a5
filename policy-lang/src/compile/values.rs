//! The resolved values of one endpoint, read by kind: what a rule says, or else the base value of the catalogue.

use super::{CompileError, Options};
use crate::endpoint::{BaseValue, EndpointDecl, EndpointId, Key};
use crate::policy::{ElementRef, Listed, Ruled};
use crate::resolved::{EndpointIx, Resolved, ResolvedStatement, ResolvedValue, RuleIx, StatementIx};

/// The statements and base values of one endpoint.
pub(super) struct Values<'a> {
    resolved: &'a Resolved,
    ix: EndpointIx,
    base: &'static [(Key, BaseValue)],
    replaced: &'a [(EndpointId, Key, u64)],
    id: Option<EndpointId>,
}

impl<'a> Values<'a> {
    /// Checks every index of the endpoint once, so that later lookups find what they look for.
    pub(super) fn of(
        resolved: &'a Resolved,
        ix: EndpointIx,
        decl: Option<&'static EndpointDecl>,
        options: &Options<'a>,
    ) -> Result<Self, CompileError> {
        let keys = resolved.endpoints.get(usize::from(ix.0)).map_or(&[][..], Vec::as_slice);
        let mut last = None;
        for key in keys {
            if last.is_some_and(|last| key.key <= last) {
                return Err(CompileError::Dangling("keys in an order"));
            }
            last = Some(key.key);
            for statement in &key.statements {
                let statement =
                    resolved.statement(*statement).ok_or(CompileError::Dangling("a statement"))?;
                resolved.rule(statement.rule).ok_or(CompileError::Dangling("a rule"))?;
                if statement.key != key.key {
                    return Err(CompileError::KeyMismatch {
                        key: key.key.as_str(),
                        found: statement.key.as_str(),
                    });
                }
            }
        }
        let base = decl.map_or(&[][..], |decl| decl.base);
        Ok(Self { resolved, ix, base, replaced: options.base_values, id: decl.map(|decl| decl.id) })
    }

    /// Every statement about a key, highest precedence first.
    pub(super) fn statements(&self, key: Key) -> impl Iterator<Item = (StatementIx, &'a ResolvedStatement)> {
        let all = self.resolved.candidates(self.ix, key).iter();
        all.filter_map(|ix| Some((*ix, self.resolved.statement(*ix)?)))
    }

    /// The statement indexes of a key.
    pub(super) fn indexes(&self, key: Key) -> &'a [StatementIx] {
        self.resolved.candidates(self.ix, key)
    }

    fn winner(&self, key: Key) -> Option<(StatementIx, &'a ResolvedStatement)> {
        self.statements(key).next()
    }

    pub(super) fn base(&self, key: Key) -> Option<&'static BaseValue> {
        self.base.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    pub(super) fn bool(&self, key: Key) -> Result<Option<Ruled<bool>>, CompileError> {
        match self.winner(key).map(|(_, statement)| (&statement.value, statement.rule)) {
            Some((ResolvedValue::Bool(value), rule)) => Ok(Some(Ruled { value: *value, rule })),
            Some((other, _)) => Err(wrong(key, other)),
            None => Ok(match self.base(key) {
                Some(BaseValue::Bool(value)) => Some(Ruled { value: *value, rule: RuleIx::BASE }),
                _ => None,
            }),
        }
    }

    /// A limit; zero is none of its values.
    pub(super) fn number(&self, key: Key) -> Result<Option<Ruled<u64>>, CompileError> {
        match self.winner(key).map(|(_, statement)| (&statement.value, statement.rule)) {
            Some((ResolvedValue::Number(value), rule)) if *value > 0 => {
                Ok(Some(Ruled { value: *value, rule }))
            }
            Some((other, _)) => Err(wrong(key, other)),
            None => {
                let replaced =
                    self.replaced.iter().find(|(id, known, _)| Some(*id) == self.id && *known == key);
                let catalogue = self.base(key).and_then(|value| match value {
                    BaseValue::Number(value) => Some(*value),
                    _ => None,
                });
                let value = replaced.map(|(_, _, value)| *value).or(catalogue);
                Ok(value.map(|value| Ruled { value, rule: RuleIx::BASE }))
            }
        }
    }

    pub(super) fn word(&self, key: Key) -> Result<Option<Ruled<&'a str>>, CompileError> {
        match self.winner(key).map(|(_, statement)| (&statement.value, statement.rule)) {
            Some((ResolvedValue::Word(value), rule)) => Ok(Some(Ruled { value, rule })),
            Some((other, _)) => Err(wrong(key, other)),
            None => Ok(None),
        }
    }

    /// The winner's list and where it came from.
    pub(super) fn list(&self, key: Key) -> Result<Option<Listed<'a>>, CompileError> {
        self.winner(key).map(|(ix, statement)| list(key, ix, statement)).transpose()
    }

    /// The lists of every statement about an accumulating key.
    pub(super) fn accumulated(&self, key: Key) -> Result<Vec<Listed<'a>>, CompileError> {
        self.statements(key).map(|(ix, statement)| list(key, ix, statement)).collect()
    }
}

/// Each element with its own provenance.
pub(super) fn with_origins(listed: Listed<'_>) -> impl Iterator<Item = (&str, ElementRef)> {
    let numbered = listed.list.values().zip(0u32..);
    numbered.map(move |(value, at)| (value, ElementRef { element: at, ..listed.origin }))
}

fn list(key: Key, ix: StatementIx, statement: &ResolvedStatement) -> Result<Listed<'_>, CompileError> {
    let origin = ElementRef { rule: statement.rule, statement: Some(ix), element: ElementRef::WHOLE };
    match &statement.value {
        ResolvedValue::List(list) => Ok(Listed { list, origin }),
        other => Err(wrong(key, other)),
    }
}

/// The error for a value that a key does not take.
pub(super) fn wrong(key: Key, value: &ResolvedValue) -> CompileError {
    let value = match value {
        ResolvedValue::Bool(value) => value.to_string(),
        ResolvedValue::Number(value) => value.to_string(),
        ResolvedValue::Word(value) => value.clone(),
        ResolvedValue::List(_) => "a list".to_owned(),
    };
    CompileError::Value { key: key.as_str(), value }
}
