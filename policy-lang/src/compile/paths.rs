//! The path keys of an endpoint. Endpoints under the same statements share one set of rules.

use super::values::{Values, wrong};
use super::{CompileError, Options};
use crate::endpoint::{EndpointDecl, Key};
use crate::paths::{PathRules, PathSource, ReadOnlySource, Symlinks};
use crate::policy::{ElementRef, Listed, Ruled};
use crate::resolved::{ResolvedValue, RuleIx, StatementIx};
use std::collections::BTreeMap;
use std::sync::Arc;

const KEYS: [Key; 4] = [Key::PathsAllow, Key::PathsDeny, Key::PathsReadOnly, Key::PathsSymlinks];

/// Rules by the statements that they come from: the winner of a replacing key, all of the accumulating one.
#[derive(Default)]
pub(super) struct Interned(BTreeMap<[Vec<StatementIx>; 4], Arc<PathRules>>);

impl Interned {
    pub(super) fn rules(
        &mut self,
        values: &Values<'_>,
        decl: Option<&EndpointDecl>,
        options: &Options<'_>,
    ) -> Result<Option<Arc<PathRules>>, CompileError> {
        let Some(decl) = decl.filter(|decl| decl.accepts.contains(Key::PathsAllow)) else { return Ok(None) };
        let statements = KEYS.map(|key| {
            let all = values.indexes(key);
            if key == Key::PathsDeny { all.to_vec() } else { all.iter().take(1).copied().collect() }
        });
        if let Some(known) = self.0.get(&statements) {
            return Ok(Some(Arc::clone(known)));
        }
        let rules = PathRules::build(&source(values, options)?)
            .map_err(|error| CompileError::Paths { endpoint: decl.name.to_owned(), error })?;
        let rules = Arc::new(rules);
        self.0.insert(statements, Arc::clone(&rules));
        Ok(Some(rules))
    }
}

fn source<'a>(values: &Values<'a>, options: &Options<'a>) -> Result<PathSource<'a>, CompileError> {
    let allow = values.list(Key::PathsAllow)?;
    Ok(PathSource {
        base_dir: options.base_dir,
        allow,
        allow_rule: allow.map_or(ElementRef::BASE, |listed| listed.origin),
        deny: values.accumulated(Key::PathsDeny)?,
        read_only: read_only(values)?,
        symlinks: symlinks(values)?,
    })
}

fn read_only<'a>(values: &Values<'a>) -> Result<ReadOnlySource<'a>, CompileError> {
    let Some((ix, statement)) = values.statements(Key::PathsReadOnly).next() else {
        return Ok(ReadOnlySource::Nothing);
    };
    let origin = ElementRef { rule: statement.rule, statement: Some(ix), element: ElementRef::WHOLE };
    match &statement.value {
        ResolvedValue::Bool(true) => Ok(ReadOnlySource::Everything(origin)),
        ResolvedValue::Bool(false) => Ok(ReadOnlySource::Nothing),
        ResolvedValue::List(list) => Ok(ReadOnlySource::Some(Listed { list, origin })),
        other => Err(wrong(Key::PathsReadOnly, other)),
    }
}

fn symlinks(values: &Values<'_>) -> Result<Ruled<Symlinks>, CompileError> {
    let Some(said) = values.word(Key::PathsSymlinks)? else {
        return Ok(Ruled { value: Symlinks::Within, rule: RuleIx::BASE });
    };
    let unknown = || CompileError::Value { key: Key::PathsSymlinks.as_str(), value: said.value.to_owned() };
    Ok(Ruled { value: Symlinks::from_name(said.value).ok_or_else(unknown)?, rule: said.rule })
}
