//! What `--explain` names: an endpoint by its id, or a request line.

use crate::routes::ROUTES;
use policy_lang::diag::suggest;
use policy_lang::endpoint::{Catalogue, Listener, Method};
use policy_lang::resolved::EndpointIx;

/// The endpoint, and what a request line says beside it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) endpoint: EndpointIx,
    /// The value of `{name}` in the path, for a scope that speaks of it.
    pub(super) command: Option<String>,
    /// Paths of the query string, by parameter.
    pub(super) paths: Vec<(String, String)>,
}

impl Target {
    pub(super) fn read(written: &str, catalogue: &Catalogue) -> Result<Self, String> {
        if let Some(endpoint) = catalogue.resolve(written) {
            return Ok(Self { endpoint, command: None, paths: Vec::new() });
        }
        if let Some(found) = request_line(written, catalogue) {
            return Ok(found);
        }
        let near = suggest::endpoint(written, catalogue);
        Err(match near.first() {
            Some(near) => format!("unknown endpoint `{written}`; did you mean `{near}`?"),
            None => format!("unknown endpoint `{written}`; `endpoints` lists them"),
        })
    }
}

fn request_line(written: &str, catalogue: &Catalogue) -> Option<Target> {
    let (method, target) = written.split_once(' ')?;
    let method = Method::from_name(method)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let found = ROUTES.find(path)?;
    let (leaf, parameters) =
        found.door(Listener::Http, method).or_else(|| found.door(Listener::Pty, method))?;
    let named = leaf.parameters.iter().zip(parameters.iter());
    let command =
        named.filter(|(name, _)| **name == "name").find_map(|(_, range)| path.get(range)).map(str::to_owned);
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let paths = pairs
        .filter(|(name, _)| matches!(&**name, "path" | "source" | "destination" | "cwd"))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    Some(Target { endpoint: catalogue.resolve(leaf.declared.name)?, command, paths })
}
