//! What a test asks of, as it is written: an endpoint's id, or the request line of one of its doors.

use crate::endpoint::{Catalogue, ENDPOINTS, Method};
use crate::resolved::EndpointIx;

/// The endpoint of a request line, and what the line says beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) endpoint: EndpointIx,
    /// The value of `{name}` in the path.
    pub(super) name: Option<String>,
    /// Paths of the query, by parameter.
    pub(super) paths: Vec<(String, String)>,
}

/// Reads an id, or `METHOD /path?query`. None for what no endpoint answers to.
pub(super) fn read(written: &str, catalogue: &Catalogue) -> Option<Line> {
    if let Some(endpoint) = catalogue.resolve(written) {
        return Some(Line { endpoint, name: None, paths: Vec::new() });
    }
    let (method, target) = written.split_once(' ')?;
    let method = Method::from_name(method)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let doors = ENDPOINTS.iter().flat_map(|decl| decl.doors.iter().map(move |door| (decl, door)));
    let fits = doors.filter(|(_, door)| door.method == method);
    // Where a literal and a parameter both fit, the literal is the door.
    let (decl, door) = fits
        .filter(|(_, door)| matches(door.path, path))
        .min_by_key(|(_, door)| door.path.matches('{').count())?;
    let parts = door.path.split('/').zip(path.split('/'));
    let name = parts.clone().find(|(part, _)| *part == "{name}").map(|(_, value)| value.to_owned());
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let paths = pairs
        .filter(|(name, _)| matches!(&**name, "path" | "source" | "destination" | "cwd"))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    Some(Line { endpoint: decl.id.into(), name, paths })
}

fn matches(door: &str, path: &str) -> bool {
    let (door, path): (Vec<&str>, Vec<&str>) = (door.split('/').collect(), path.split('/').collect());
    door.len() == path.len()
        && door.iter().zip(&path).all(
            |(part, value)| {
                if part.starts_with('{') { !value.is_empty() } else { part == value }
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_line_finds_its_endpoint() {
        let catalogue = Catalogue::builtin();
        let line = |written| {
            read(written, &catalogue).map(|line| (catalogue.name(line.endpoint), line.name, line.paths))
        };
        assert_eq!(line("shell"), Some(("shell", None, vec![])));
        assert_eq!(line("POST /shell/"), Some(("shell", None, vec![])));
        assert_eq!(line("POST /commands/hello"), Some(("commands_run", Some("hello".to_owned()), vec![])));
        assert_eq!(
            line("GET /files/list?path=%2Ftmp&x=1"),
            Some(("files_list", None, vec![("path".to_owned(), "/tmp".to_owned())]))
        );
        assert_eq!(line("GET /shell"), None);
        assert_eq!(line("shel"), None);
    }
}
