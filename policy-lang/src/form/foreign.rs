//! Sets that are read to be shown or compared, and never served: with the routes that they name themselves, and perhaps of
//! another release's endpoint table.

use super::read::{Paths, bad, build, open, resolve};
use super::{FormError, values};
use crate::diag::quoted;
use crate::endpoint::{Catalogue, CustomRoute, Group, TABLE_FINGERPRINT};
use crate::layer::{Selector, Specificity};
use crate::merge::index;
use crate::resolved::Resolved;
use crate::resolved::revision::revision;
use crate::scope::ScopeSet;
use std::sync::Arc;

/// Reads a compiled set with the custom routes that it names itself: to be shown, by whoever does not serve it.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read_alone(text: String) -> Result<Resolved, FormError> {
    let foreign = read_foreign(text)?;
    if foreign.table == TABLE_FINGERPRINT {
        Ok(foreign.resolved)
    } else {
        Err(FormError::Table { found: foreign.table, expected: TABLE_FINGERPRINT.to_owned() })
    }
}

/// That the revision which a set names is that of its content. [`read()`](super::read()) leaves it at what the set says; whoever has the
/// time looks.
///
/// # Errors
/// Where the set names another.
pub fn vouch(resolved: &Resolved) -> Result<(), FormError> {
    if revision(resolved) == resolved.revision {
        Ok(())
    } else {
        Err(bad("revision", "it is not that of what the set holds"))
    }
}

/// A compiled set of whatever endpoint table, to be compared and never served.
#[derive(Debug)]
pub struct Foreign {
    /// What it says, read against this tool's table.
    pub resolved: Resolved,
    /// Fingerprint of the table that it was made for.
    pub table: String,
    /// Its custom routes beside this tool's endpoints.
    pub catalogue: Catalogue,
    /// Rules whose selector speaks of no endpoint of this tool; they are left out.
    pub dropped: Vec<String>,
}

/// Reads a compiled set of any endpoint table. Where the table is this tool's own, it is held to all that [`read()`](super::read()) and
/// [`vouch`] ask.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read_foreign(text: String) -> Result<Foreign, FormError> {
    let text = Arc::new(text.into());
    let mut body = open(&text)?;
    let routes = body.custom.iter().map(|route| {
        let scopes = ScopeSet::parse(route.scopes.iter().map(String::as_str));
        if let Err(scope) = scopes {
            return Err(bad("custom", &format!("unknown scope {}", quoted(scope))));
        }
        let group = Group::from_name(&route.group).ok_or_else(|| bad(&route.id, "an unknown group"))?;
        Ok(CustomRoute { id: route.id.clone(), group, scopes: route.scopes.clone() })
    });
    let routes = routes.collect::<Result<Vec<_>, FormError>>()?;
    let catalogue = Catalogue::with_custom(routes)
        .map_err(|id| bad("custom", &format!("no id of a custom route: {}", quoted(&id))))?;
    if body.table == TABLE_FINGERPRINT {
        let resolved = resolve(body, &text, &catalogue, Paths::Read)?;
        vouch(&resolved)?;
        return Ok(Foreign { resolved, table: TABLE_FINGERPRINT.to_owned(), catalogue, dropped: Vec::new() });
    }
    let mut dropped = Vec::new();
    body.rules.retain(|rule| {
        let selector = Specificity::from_name(&rule.specificity)
            .and_then(|specificity| Selector::read(specificity, &rule.selector, &catalogue));
        let speaks = selector.is_some_and(|selector| !catalogue.matching(&selector).is_empty());
        if !speaks {
            dropped.push(rule.name.clone());
        }
        speaks
    });
    let (table, revision) = (body.table.clone(), body.revision.clone());
    let mut resolved = build(body, &text, &catalogue, Paths::Read)?;
    resolved.endpoints = index::index(&resolved, &catalogue);
    values::agree(&resolved, &catalogue)?;
    // What the other tool counted is kept: here the same rules speak of other endpoints.
    resolved.revision = revision;
    Ok(Foreign { resolved, table, catalogue, dropped })
}
