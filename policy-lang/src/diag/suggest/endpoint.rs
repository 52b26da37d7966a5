//! Suggestions where an endpoint's id belongs: a name, but also the path or `METHOD /path` of one of its doors.

use super::{MAX_SUGGESTIONS, closest};
use crate::endpoint::ENDPOINTS;
use crate::endpoint::catalogue::Catalogue;

/// The nearest endpoint ids to what was written: best first, at most three, none when none is near.
#[must_use]
pub fn endpoint<'c>(written: &str, catalogue: &'c Catalogue) -> Vec<&'c str> {
    match door(written) {
        Some((method, path)) => by_path(method, path),
        None => closest(written, catalogue.names()),
    }
}

/// Whether a path, or `METHOD /path`, was written.
#[must_use]
pub fn is_door(written: &str) -> bool {
    door(written).is_some()
}

/// Splits `POST /shell`; a path alone has no method.
fn door(written: &str) -> Option<(Option<&str>, &str)> {
    let written = written.trim();
    if written.starts_with('/') {
        return Some((None, written));
    }
    let (method, path) = written.split_once(|c: char| c.is_whitespace() || c == ':')?;
    let path = path.trim_start();
    let word = method.chars().all(|c| c.is_ascii_alphabetic());
    (word && path.starts_with('/')).then_some((Some(method), path))
}

/// The endpoints that have this path: those of the method first, of another method only where none has it.
fn by_path<'c>(method: Option<&str>, path: &str) -> Vec<&'c str> {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut with_method = Vec::new();
    let mut other = Vec::new();
    for decl in ENDPOINTS.iter() {
        for door in decl.doors.iter().filter(|door| same_path(door.path, path)) {
            let same = method.is_none_or(|method| door.method.as_str().eq_ignore_ascii_case(method));
            let list = if same { &mut with_method } else { &mut other };
            if !list.contains(&decl.name) {
                list.push(decl.name);
            }
        }
    }
    let mut found = if with_method.is_empty() { other } else { with_method };
    if found.is_empty() {
        let doors = || ENDPOINTS.iter().flat_map(|decl| decl.doors.iter().map(|door| (door.path, decl.name)));
        let near = closest(path, doors().map(|(path, _)| path));
        for name in near.into_iter().flat_map(|near| doors().filter(move |(path, _)| *path == near)) {
            if !found.contains(&name.1) {
                found.push(name.1);
            }
        }
    }
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Whether a written path is a door's: equal part by part, where `{…}` of the door stands for any one part.
fn same_path(door: &str, written: &str) -> bool {
    let parts = |path| str::split(str::trim_matches(path, '/'), '/');
    let (mut door, mut written) = (parts(door), parts(written));
    loop {
        match (door.next(), written.next()) {
            (None, None) => return true,
            (Some(part), Some(other)) => {
                let parameter = part.starts_with('{') && !other.is_empty();
                if !parameter && part != other {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
