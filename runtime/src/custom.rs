//! The routes that a template registers beside the declared endpoints: their ids, rules and doors are like built-in ones.
//!
//! They are settled before the server listens and live as long as it does. A request that no declared door fits is
//! matched against them, in the order of their registration.

mod path;

use crate::commands::RouteEntry;
use crate::routes::{Leaf, Parameters};
use path::Path;
use policy_lang::endpoint::catalogue::{CUSTOM_KEYS, CUSTOM_PREFIX};
use policy_lang::endpoint::{
    AuditLevel, BodyKind, Catalogue, CustomRoute, Door, EndpointDecl, EndpointId, ErrorStyle, Group,
    Listener, Method,
};
use policy_lang::resolved::EndpointIx;
use policy_lang::scope::ScopeNeed;

/// What a caller needs where a route says nothing.
const USUAL_SCOPE: &str = "commands:run";

/// Every custom route.
#[derive(Debug, Default)]
pub struct CustomRoutes {
    routes: Vec<Route>,
    catalogue: Catalogue,
}

#[derive(Debug)]
struct Route {
    path: Path,
    leaf: &'static Leaf,
}

/// Why a route cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomError {
    /// A method that the server does not serve.
    #[error("the route `{method} {path}` has a method that is not served: only GET, POST and DELETE are")]
    Method {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// A path that no request can have.
    #[error(
        "the route `{0}` has a path that cannot be: segments are letters, digits, `_`, `-`, `.` and `~`, or `{{name}}`, at most {MOST} of these"
    )]
    Path(String),
    /// A name that is none.
    #[error("the route `{path}` needs a name of letters, digits and `_`: `{name}` is none")]
    Name {
        /// The path.
        path: String,
        /// The name.
        name: String,
    },
    /// A group that does not exist.
    #[error("the route `{path}` is of the unknown group `{group}`")]
    Group {
        /// The path.
        path: String,
        /// The group.
        group: String,
    },
    /// A scope that does not exist.
    #[error("the route `{path}` asks for the unknown scope `{scope}`")]
    Scope {
        /// The path.
        path: String,
        /// The scope.
        scope: String,
    },
    /// A declared endpoint answers every request of this kind.
    #[error("the route `{method} {path}` clashes with the endpoint `{with}`")]
    Clash {
        /// The method.
        method: String,
        /// The path.
        path: String,
        /// What is there already.
        with: String,
    },
    /// Two routes of one id.
    #[error("the route id `{0}` is registered twice; give one of the routes another `name`")]
    Twice(String),
}

pub(crate) use path::MOST;

impl CustomRoutes {
    /// Settles the routes.
    ///
    /// # Errors
    /// The first that cannot be served.
    pub fn new(entries: &[RouteEntry]) -> Result<Self, CustomError> {
        let (mut routes, mut declared) = (Vec::<Route>::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let (route, custom) = settle(entry, at)?;
            let same = |earlier: &&Route| {
                earlier.leaf.door.method == route.leaf.door.method && earlier.path.covers(&route.path)
            };
            if let Some(earlier) = routes.iter().find(same) {
                return Err(clash(entry, earlier.leaf.declared.name));
            }
            routes.push(route);
            declared.push(custom);
        }
        let catalogue = Catalogue::with_custom(declared).map_err(CustomError::Twice)?;
        Ok(Self { routes, catalogue })
    }

    /// The declared endpoints and these.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Their declarations, with the index of each.
    pub fn iter(&self) -> impl Iterator<Item = (EndpointIx, &'static EndpointDecl)> + '_ {
        self.routes.iter().map(|route| (route.leaf.endpoint, route.leaf.declared))
    }

    /// The first route that fits.
    #[must_use]
    pub fn find(
        &self,
        listener: Listener,
        method: Method,
        path: &str,
    ) -> Option<(&'static Leaf, Parameters)> {
        if listener != Listener::Http {
            return None;
        }
        let fits = |route: &Route| {
            let same = route.leaf.door.method == method;
            same.then(|| route.path.fit(path)).flatten().map(|parameters| (route.leaf, parameters))
        };
        self.routes.iter().find_map(fits)
    }

    /// The place of an endpoint among the custom routes; none for a declared one.
    #[must_use]
    pub fn position(endpoint: EndpointIx) -> Option<usize> {
        usize::from(endpoint.0).checked_sub(EndpointId::COUNT)
    }
}

fn settle(entry: &RouteEntry, at: usize) -> Result<(Route, CustomRoute), CustomError> {
    let whole = || entry.path.clone();
    let method = Method::from_name(&entry.method).filter(|method| *method != Method::Head);
    let method = method.ok_or_else(|| CustomError::Method { method: entry.method.clone(), path: whole() })?;
    let path = Path::parse(&entry.path).ok_or_else(|| CustomError::Path(whole()))?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if entry.name.is_empty() || !entry.name.bytes().all(plain) {
        return Err(CustomError::Name { path: whole(), name: entry.name.clone() });
    }
    let group = Group::from_name(&entry.group)
        .ok_or_else(|| CustomError::Group { path: whole(), group: entry.group.clone() })?;
    let usual = || if entry.auth_required { vec![USUAL_SCOPE.to_owned()] } else { Vec::new() };
    let scopes = entry.scopes.clone().unwrap_or_else(usual);
    ScopeNeed::parse(scopes.iter().map(String::as_str))
        .map_err(|scope| CustomError::Scope { path: whole(), scope: scope.to_owned() })?;
    if let Some(builtin) = path.builtin(method) {
        return Err(clash(entry, builtin));
    }
    let id = format!("{CUSTOM_PREFIX}{}", entry.name);
    // The index of a route past the last number is refused by the catalogue.
    let endpoint = EndpointIx(u16::try_from(EndpointId::COUNT + at).unwrap_or(u16::MAX));
    let leaf = leak(entry, method, &path, group, &id, &scopes, endpoint);
    Ok((Route { path, leaf }, CustomRoute { id, group, scopes }))
}

fn clash(entry: &RouteEntry, with: &str) -> CustomError {
    CustomError::Clash { method: entry.method.clone(), path: entry.path.clone(), with: with.to_owned() }
}

/// A row like those of the generated table. It is never freed: routes are settled once and live as long as the process.
fn leak(
    entry: &RouteEntry,
    method: Method,
    path: &Path,
    group: Group,
    id: &str,
    scopes: &[String],
    endpoint: EndpointIx,
) -> &'static Leaf {
    fn text(text: &str) -> &'static str {
        String::leak(text.to_owned())
    }
    let texts = |texts: &mut dyn Iterator<Item = &str>| -> &'static [&'static str] {
        Vec::leak(texts.map(text).collect())
    };
    let door = Door {
        method,
        path: text(&entry.path),
        body: if method == Method::Get { BodyKind::None } else { BodyKind::Json },
        upgrade: false,
        errors: ErrorStyle::Plain,
        listener: Listener::Http,
    };
    let doors: &'static [Door] = Vec::leak(vec![door]);
    let declared: &'static EndpointDecl = Box::leak(Box::new(EndpointDecl {
        // The declared endpoint that it is most like. Whoever asks which endpoint it is asks for its index.
        id: EndpointId::CommandsRun,
        name: text(id),
        summary: text(&entry.summary),
        group,
        scopes: texts(&mut scopes.iter().map(String::as_str)),
        auth_required: entry.auth_required,
        streaming: entry.streaming,
        named: false,
        limit_class: None,
        doors,
        accepts: CUSTOM_KEYS,
        base: &[],
        audit: AuditLevel::All,
    }));
    let parameters = texts(&mut path.parameters());
    Box::leak(Box::new(Leaf { endpoint, declared, door: Box::leak(Box::new(door)), parameters }))
}

#[cfg(test)]
mod tests;
