//! The rules of an endpoint's row.

use super::names::{Candidates, Names};
use super::{
    Base, Class, Endpoint, KeySet, Name, Table, doors, known_groups, known_keys, known_scopes, values,
};
use crate::decl::{At, Declaration, EndpointRow};
use crate::error::Faults;
use std::collections::BTreeMap;
use syn::Ident;

/// What the row of an endpoint may refer to.
struct Known<'a> {
    declared: &'a Declaration,
    table: &'a Table,
    groups: Candidates<'a>,
    scopes: Candidates<'a>,
    /// Keys, then sets.
    keys: Candidates<'a>,
    class_names: Candidates<'a>,
    classes: &'a [Class],
    sets: &'a [KeySet],
}

/// The endpoints whose id and group are known, with everything else that could be resolved.
pub(super) fn check(
    declared: &Declaration,
    table: &Table,
    classes: &[Class],
    sets: &[KeySet],
    faults: &mut Faults,
) -> Vec<Endpoint> {
    let whole = declared.classes.iter().all(|row| row.name.is_some());
    let known = Known {
        declared,
        table,
        groups: known_groups(declared, table),
        scopes: known_scopes(declared, table),
        keys: known_keys(declared, table, sets),
        class_names: Candidates::new("limit class", classes.iter().map(|class| class.name.as_str()), whole),
        classes,
        sets,
    };
    let mut ids = Names::new("endpoint");
    let mut endpoints = Vec::new();
    for row in &declared.endpoints {
        let id = ids.add(row.id.as_ref(), faults);
        endpoints.extend(endpoint(row, id, &known, faults));
    }
    endpoints
}

/// Every rule is applied before a row without id or group is given up.
fn endpoint(row: &EndpointRow, id: Option<Name>, known: &Known<'_>, faults: &mut Faults) -> Option<Endpoint> {
    let group = row.group.as_ref().and_then(|group| known.groups.find(group, faults));
    let class = row.limit_class.as_ref().and_then(|class| known.class_names.find(class, faults));
    let class = class.and_then(|class| known.classes.get(class));
    if let (Some(name), Some(at)) = (&id, &row.id) {
        module_name(name, at, faults);
    }
    scopes(row, &known.scopes, faults);
    let doors = doors::check(row, faults);
    let accepts = accepts(row, class, known, faults);
    let base = base(row, class, &accepts, known, faults);
    Some(Endpoint {
        name: id?,
        summary: row.summary.clone(),
        group: group?,
        scopes: row.scopes.iter().map(|scope| scope.value.clone()).collect(),
        auth_required: row.auth_required.as_ref().is_none_or(|flag| flag.value),
        streaming: row.streaming.as_ref().is_some_and(|flag| flag.value),
        named: row.named,
        limit_class: class.map(|class| class.name.clone()),
        doors,
        accepts,
        base,
        audit: row.audit.as_ref().map_or_else(|| "all".to_owned(), |audit| audit.value.clone()),
    })
}

/// The id names the module of the handler.
fn module_name(name: &Name, at: &At<String>, faults: &mut Faults) {
    if syn::parse_str::<Ident>(&name.text).is_err() {
        faults.at(&at.span, format!("the endpoint `{}` makes no Rust module", name.text)).label("reserved");
    }
}

fn scopes(row: &EndpointRow, known: &Candidates<'_>, faults: &mut Faults) {
    let open = row.auth_required.as_ref().filter(|flag| !flag.value);
    match (row.scopes.first(), open, &row.scopes_at) {
        (Some(scope), Some(open), _) => {
            faults
                .at(&open.span, "an endpoint without a token has no scopes")
                .label("no token is asked")
                .related(&scope.span, "but a scope is");
        }
        (None, None, Some(list)) => {
            faults
                .at(list, "an endpoint that asks for a token asks for a scope")
                .help("`core:read` is held by every principal");
        }
        _ => {}
    }
    for scope in &row.scopes {
        known.find(scope, faults);
        // `commands:run:{name}` takes the name from the path of whichever door was used.
        let Some(wanted) = scope.value.split(':').find(|part| part.starts_with('{')) else { continue };
        let paths = row.doors.iter().filter_map(|door| door.path.as_ref());
        for path in paths.filter(|path| path.value.split('/').all(|part| part != wanted)) {
            faults
                .at(&scope.span, format!("`{}` names a parameter that a path lacks", scope.value))
                .related(&path.span, "this path");
        }
    }
}

/// The keys it accepts: those of every endpoint, of its class, and those it lists.
fn accepts(row: &EndpointRow, class: Option<&Class>, known: &Known<'_>, faults: &mut Faults) -> Vec<usize> {
    let keys = &known.table.keys;
    let mut accepts: BTreeMap<usize, &str> = BTreeMap::new();
    for (at, key) in keys.iter().enumerate() {
        if key.everywhere {
            accepts.insert(at, "every endpoint accepts it");
        }
    }
    for (at, _) in class.iter().flat_map(|class| &class.base) {
        accepts.entry(*at).or_insert("its limit class says so");
    }
    for word in &row.accepts {
        let Some(found) = known.keys.find(word, faults) else { continue };
        let members = match found.checked_sub(keys.len()).and_then(|set| known.sets.get(set)) {
            Some(set) => set.keys.clone(),
            None => vec![found],
        };
        for member in members {
            if let Some(why) = accepts.insert(member, "the list says so") {
                let name = keys.get(member).map_or("", |key| key.name.text.as_str());
                faults.at(&word.span, format!("`{name}` is accepted already")).label(why);
            }
        }
    }
    accepts.into_keys().collect()
}

/// The base values: those of its class, then its own.
fn base(
    row: &EndpointRow,
    class: Option<&Class>,
    accepts: &[usize],
    known: &Known<'_>,
    faults: &mut Faults,
) -> Vec<(usize, Base)> {
    let mut base: BTreeMap<usize, Base> = class.iter().flat_map(|class| class.base.iter().cloned()).collect();
    for (prefix, written) in [("limits", &row.limits), ("params", &row.params)] {
        for (at, value) in values::resolve(prefix, written, known.table, known.declared, faults) {
            let name = known.table.keys.get(at).map_or("", |key| key.name.text.as_str());
            if accepts.contains(&at) {
                base.insert(at, value);
            } else if let Some(place) = place(written, prefix, name) {
                faults
                    .at(&place.span, format!("`{name}` has a base value and is not accepted"))
                    .help(format!("add \"{name}\" to `accepts`"));
            }
        }
    }
    base.into_iter().collect()
}

/// Where the key `name` stands in the table of `prefix`.
fn place<'a, T>(written: &'a [(At<String>, T)], prefix: &str, name: &str) -> Option<&'a At<String>> {
    let short = name.strip_prefix(prefix)?.strip_prefix('.')?;
    written.iter().map(|(key, _)| key).find(|key| key.value == short)
}
