//! The rules of doors: shapes that make sense, and no two doors for one request.

use super::Door;
use crate::decl::fields::parameter;
use crate::decl::{Declaration, DoorRow, EndpointRow};
use crate::error::{Faults, Span};
use std::collections::BTreeMap;

/// The doors of one endpoint that have a method and a path.
pub(super) fn check(row: &EndpointRow, faults: &mut Faults) -> Vec<Door> {
    row.doors.iter().filter_map(|door| one(row, door, faults)).collect()
}

fn one(row: &EndpointRow, door: &DoorRow, faults: &mut Faults) -> Option<Door> {
    let word = |at: &Option<crate::decl::At<String>>, otherwise: &str| {
        at.as_ref().map_or_else(|| otherwise.to_owned(), |at| at.value.clone())
    };
    if let Some(path) = &door.path {
        let mut seen = Vec::new();
        for name in path.value.split('/').filter_map(parameter) {
            if seen.contains(&name) {
                faults.at(&path.span, format!("the parameter `{name}` stands twice in the path"));
            }
            seen.push(name);
        }
    }
    let method = door.method.as_ref()?;
    let takes_body = matches!(method.value.as_str(), "POST" | "DELETE");
    let body = word(&door.body, if takes_body { "json" } else { "none" });
    let upgrade = door.upgrade.as_ref().is_some_and(|flag| flag.value);
    if let (false, Some(at), true) = (takes_body, &door.body, body != "none") {
        faults.at(&at.span, format!("a {} request has no body", method.value)).label("must be `none`");
    }
    if let (true, Some(at), true) = (upgrade, &door.upgrade, method.value != "GET") {
        faults.at(&at.span, "only GET is upgraded to a WebSocket").related(&method.span, "this is no GET");
    }
    if let Some(at) = door.listener.as_ref().filter(|at| at.value == "pty" && !upgrade) {
        faults
            .at(&at.span, "the PTY port serves WebSockets only")
            .help("set `upgrade = true`, or drop `listener`");
    }
    streaming(row, door, &method.value, upgrade, faults);
    Some(Door {
        path: door.path.as_ref()?.value.clone(),
        method: method.value.clone(),
        body,
        upgrade,
        errors: word(&door.errors, "plain"),
        listener: word(&door.listener, "http"),
    })
}

/// A stream of events is an answer to GET or POST; an upgraded request has no answer.
fn streaming(row: &EndpointRow, door: &DoorRow, method: &str, upgrade: bool, faults: &mut Faults) {
    let Some(flag) = row.streaming.as_ref().filter(|flag| flag.value) else { return };
    let primary = row.doors.first().is_some_and(|first| first.span == door.span);
    if let (true, true, Some(at)) = (primary, upgrade, &door.upgrade) {
        faults
            .at(&flag.span, "an endpoint is a stream of events or a WebSocket, not both")
            .related(&at.span, "its first door is a WebSocket");
    }
    if let ("HEAD", Some(at)) = (method, &door.method) {
        faults.at(&at.span, "a stream of events has no HEAD").related(&flag.span, "a stream by this");
    }
}

/// What tells one request from another: the listener, the method, and the path with every parameter alike.
type Shape = (String, String, String);

/// No two doors may take the same request.
pub(super) fn unique(declared: &Declaration, faults: &mut Faults) {
    let mut taken: BTreeMap<Shape, (Span, String)> = BTreeMap::new();
    for row in &declared.endpoints {
        for door in &row.doors {
            let (Some(method), Some(path)) = (&door.method, &door.path) else { continue };
            let listener = door.listener.as_ref().map_or("http", |at| at.value.as_str());
            let shape = path.value.split('/').map(|part| if parameter(part).is_some() { "{}" } else { part });
            let shape = (listener.to_owned(), method.value.clone(), shape.collect::<Vec<_>>().join("/"));
            let id = row.id.as_ref().map_or("?", |id| id.value.as_str());
            if let Some((first, other)) = taken.get(&shape) {
                let (method, path) = (&method.value, &path.value);
                faults
                    .at(
                        &door.path.as_ref().map_or(0..0, |path| path.span.clone()),
                        format!("`{method} {path}` is taken"),
                    )
                    .label("takes the same requests")
                    .related(first, format!("as this door of `{other}`"));
            } else {
                taken.insert(shape, (path.span.clone(), id.to_owned()));
            }
        }
    }
    heads(declared, faults);
}

/// A HEAD door answers as the GET door of the same endpoint and path.
fn heads(declared: &Declaration, faults: &mut Faults) {
    for row in &declared.endpoints {
        for door in &row.doors {
            let (Some(method), Some(path)) = (&door.method, &door.path) else { continue };
            let twin = |other: &DoorRow| {
                other.method.as_ref().is_some_and(|method| method.value == "GET")
                    && other.path.as_ref().is_some_and(|its| its.value == path.value)
            };
            if method.value == "HEAD" && !row.doors.iter().any(twin) {
                faults
                    .at(&method.span, "a HEAD door stands beside a GET door of the same path")
                    .label("no such GET here");
            }
        }
    }
}
