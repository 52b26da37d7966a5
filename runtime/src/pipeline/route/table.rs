//! Looks a path up among the declared doors, segment by segment.

use policy_lang::endpoint::{Door, ENDPOINTS, EndpointDecl, Listener, Method};

/// The door of this listener, method and path. A literal segment is preferred to a parameter.
pub(super) fn lookup(
    listener: Listener,
    method: Method,
    path: &str,
) -> Option<(&'static EndpointDecl, &'static Door)> {
    let doors = ENDPOINTS.iter().flat_map(|decl| decl.doors.iter().map(move |door| (decl, door)));
    doors
        .filter(|(_, door)| door.listener == listener && door.method == method && fits(door.path, path))
        .min_by_key(|(_, door)| door.path.matches('{').count())
}

fn fits(template: &str, path: &str) -> bool {
    let mut pieces = path.split('/');
    let fit = template.split('/').all(|wanted| {
        pieces
            .next()
            .is_some_and(|piece| if wanted.starts_with('{') { !piece.is_empty() } else { wanted == piece })
    });
    fit && pieces.next().is_none()
}
