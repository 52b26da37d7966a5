//! Custom routes: which one answers a request, which clash, and which cannot be served.

use super::*;

fn entry(method: &str, path: &str) -> RouteEntry {
    let name: String = format!("{method} {path}").to_lowercase();
    RouteEntry {
        method: method.to_owned(),
        path: path.to_owned(),
        group: "commands".to_owned(),
        auth_required: true,
        streaming: false,
        name: name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
        scopes: None,
        summary: String::new(),
    }
}

fn found(routes: &CustomRoutes, method: Method, path: &str) -> Option<(&'static str, Vec<String>)> {
    let (leaf, parameters) = routes.find(Listener::Http, method, path)?;
    Some((
        leaf.declared.doors[0].path,
        parameters.iter().map(|range| path.get(range).unwrap().to_owned()).collect(),
    ))
}

#[test]
fn the_first_route_that_fits_answers() {
    let routes = CustomRoutes::new(&[
        entry("GET", "/a/b"),
        entry("GET", "/a/{x}"),
        entry("POST", "/a/{x}/{y}/"),
        entry("GET", "/"),
    ])
    .unwrap();
    let some = |path, values: &[&str]| Some((path, values.iter().map(|value| (*value).to_owned()).collect()));
    assert_eq!(found(&routes, Method::Get, "/a/b"), some("/a/b", &[]));
    assert_eq!(found(&routes, Method::Get, "/a/c%2f"), some("/a/{x}", &["c%2f"]));
    assert_eq!(found(&routes, Method::Post, "/a/b/c"), some("/a/{x}/{y}/", &["b", "c"]));
    assert_eq!(found(&routes, Method::Get, "/"), some("/", &[]));
    for (method, path) in
        [(Method::Post, "/a/b"), (Method::Get, "/a/"), (Method::Get, "/a"), (Method::Get, "/A/b")]
    {
        assert_eq!(found(&routes, method, path), None, "{path}");
    }
    assert!(routes.find(Listener::Pty, Method::Get, "/a/b").is_none());
}

#[test]
fn a_route_that_would_never_answer_is_a_clash() {
    let clash = |entries: &[RouteEntry]| match CustomRoutes::new(entries) {
        Err(CustomError::Clash { with, .. }) => with,
        other => panic!("{other:?}"),
    };
    assert_eq!(clash(&[entry("GET", "/health")]), "health");
    assert_eq!(clash(&[entry("POST", "/commands/{x}")]), "commands_run");
    assert_eq!(clash(&[entry("POST", "/commands/deploy")]), "commands_run");
    assert_eq!(clash(&[entry("GET", "/a/{x}"), entry("GET", "/a/b")]), "custom:get__a__x_");
    assert!(CustomRoutes::new(&[entry("DELETE", "/health"), entry("GET", "/commands/{x}")]).is_ok());
}

#[test]
fn what_cannot_be_served_is_named() {
    let refused = |entry: RouteEntry| CustomRoutes::new(&[entry]).unwrap_err().to_string();
    assert!(refused(entry("PUT", "/a")).contains("only GET, POST and DELETE"));
    for path in ["a", "/a//b", "/a/..", "/a/{1}", "/a/{x", "/a b", "/{x}/{x}", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}"]
    {
        assert!(matches!(CustomRoutes::new(&[entry("GET", path)]), Err(CustomError::Path(_))), "{path}");
    }
    assert!(refused(RouteEntry { name: "Hello".into(), ..entry("GET", "/a") }).contains("`Hello`"));
    assert!(refused(RouteEntry { group: "comands".into(), ..entry("GET", "/a") }).contains("`comands`"));
    let scopes = Some(vec!["files:reed".to_owned()]);
    assert!(refused(RouteEntry { scopes, ..entry("GET", "/a") }).contains("`files:reed`"));
    let twice = [entry("GET", "/a"), RouteEntry { name: "get__a".into(), ..entry("GET", "/b") }];
    assert_eq!(CustomRoutes::new(&twice).unwrap_err(), CustomError::Twice("custom:get__a".to_owned()));
}

#[test]
fn scopes_are_those_of_commands_unless_the_route_says_otherwise() {
    let public = RouteEntry { auth_required: false, name: "public".into(), ..entry("GET", "/p") };
    let own =
        RouteEntry { scopes: Some(vec!["files:read".into()]), name: "own".into(), ..entry("GET", "/o") };
    let routes = CustomRoutes::new(&[entry("GET", "/a"), public, own]).unwrap();
    let scopes: Vec<_> = routes.catalogue().custom().iter().map(|route| route.scopes.clone()).collect();
    assert_eq!(scopes, [vec!["commands:run"], vec![], vec!["files:read"]]);
}
