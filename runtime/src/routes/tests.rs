//! The table against every declared door, and against a matcher that simply looks at all of them.

use super::{Found, MOST_PARAMETERS, NONE, ROUTES, Routes};
use policy_lang::endpoint::{Door, ENDPOINTS, EndpointDecl, EndpointId, Listener, Method};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::LazyLock;

const METHODS: [Method; 4] = [Method::Get, Method::Head, Method::Post, Method::Delete];
const LISTENERS: [Listener; 2] = [Listener::Http, Listener::Pty];

fn doors() -> impl Iterator<Item = (&'static EndpointDecl, &'static Door)> {
    ENDPOINTS.iter().flat_map(|declared| declared.doors.iter().map(move |door| (declared, door)))
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

/// The doors that fit `path`, found segment by segment among all: a literal that fits rules out the parameters.
fn naive(path: &str) -> Vec<(&'static EndpointDecl, &'static Door)> {
    let Some(rest) = path.strip_prefix('/') else { return Vec::new() };
    let segments: Vec<&str> = rest.split('/').collect();
    let template = |door: &'static Door| door.path.split('/').skip(1).collect::<Vec<_>>();
    let mut left: Vec<_> = doors().collect();
    for (at, segment) in segments.iter().enumerate() {
        let literal = left.iter().any(|(_, door)| template(door).get(at) == Some(segment));
        left.retain(|(_, door)| match template(door).get(at) {
            Some(wanted) if literal => wanted == segment,
            Some(wanted) => is_parameter(wanted) && !segment.is_empty(),
            None => false,
        });
    }
    left.retain(|(_, door)| template(door).len() == segments.len());
    left
}

/// The id, the door's template and the parameters, for one method and listener.
type Answer = Option<(EndpointId, &'static str, Vec<(String, String)>)>;

fn answer(path: &str, found: Option<Found>, listener: Listener, method: Method) -> Answer {
    let (leaf, parameters) = found?.door(listener, method)?;
    let values = parameters.iter().map(|range| path.get(range).unwrap().to_owned());
    let named = leaf.parameters.iter().map(|name| (*name).to_owned()).zip(values);
    Some((leaf.declared.id, leaf.door.path, named.collect()))
}

fn naive_answer(path: &str, listener: Listener, method: Method) -> Answer {
    let fits = naive(path);
    let (declared, door) =
        fits.iter().find(|(_, door)| door.listener == listener && door.method == method)?;
    let pairs = door.path.split('/').zip(path.split('/')).filter(|(template, _)| is_parameter(template));
    let named = pairs.map(|(name, value)| (name.trim_matches(['{', '}']).to_owned(), value.to_owned()));
    Some((declared.id, door.path, named.collect()))
}

fn assert_agree(path: &str) {
    let found = ROUTES.find(path);
    for (listener, method) in LISTENERS.iter().flat_map(|one| METHODS.iter().map(move |other| (*one, *other)))
    {
        let (ours, naive) = (answer(path, found, listener, method), naive_answer(path, listener, method));
        assert_eq!(ours, naive, "{method:?} {path} on {listener:?}");
    }
    let methods = found.iter().flat_map(|found| found.methods().collect::<Vec<_>>()).collect::<Vec<_>>();
    let fits = naive(path);
    let has = |method: &Method| fits.iter().any(|(_, door)| door.method == *method);
    assert_eq!(methods, METHODS.into_iter().filter(has).collect::<Vec<_>>(), "{path}");
}

#[test]
fn every_door_is_found() {
    for (declared, door) in doors() {
        let path: Vec<String> = door
            .path
            .split('/')
            .map(|part| if is_parameter(part) { format!("x-{part}") } else { part.to_owned() })
            .collect();
        let path = path.join("/");
        let (leaf, parameters) = ROUTES.find(&path).unwrap().door(door.listener, door.method).unwrap();
        assert_eq!((leaf.declared.id, leaf.door), (declared.id, door), "{path}");
        let values: Vec<&str> = parameters.iter().map(|range| path.get(range).unwrap()).collect();
        let wanted: Vec<String> = leaf.parameters.iter().map(|name| format!("x-{{{name}}}")).collect();
        assert_eq!(values, wanted, "{path}");
        assert_agree(&path);
    }
}

#[test]
fn a_literal_reserves_its_place() {
    let boxes =
        answer("/v2/sandboxes/boxes/b1", ROUTES.find("/v2/sandboxes/boxes/b1"), Listener::Http, Method::Get);
    let (id, _, parameters) = boxes.unwrap();
    assert_eq!((id, parameters), (EndpointId::Capabilities, vec![("name".to_owned(), "b1".to_owned())]));
    let glob = ROUTES.find("/v2/sandboxes/boxes/glob").unwrap();
    assert_eq!(glob.methods().collect::<Vec<_>>(), [Method::Get], "no sandbox is called boxes");
    assert!(ROUTES.find("/process/list/output").is_none(), "no process is called list");
}

#[test]
fn each_listener_has_its_own_doors() {
    let pty = ROUTES.find("/pty").unwrap();
    assert_eq!(pty.door(Listener::Pty, Method::Get).unwrap().0.declared.id, EndpointId::PtyConnect);
    let health = ROUTES.find("/health").unwrap();
    assert!(health.door(Listener::Http, Method::Get).is_some());
    assert!(health.door(Listener::Pty, Method::Get).is_none());
    assert!(health.door(Listener::Http, Method::Post).is_none(), "a path under another method is no match");
}

#[test]
fn matching_is_byte_for_byte() {
    for path in [
        "",
        "health",
        "/",
        "//",
        "/health/",
        "//health",
        "/Health",
        "/%68ealth",
        "/health%2f",
        "/health;x",
        "/health\0",
        "/process//output",
        "/process/",
        "/files",
        "/files/",
        "/{pid}",
        "/process/{pid}",
        "/process/1/output/",
        "/é",
        "/process/é",
    ] {
        assert_agree(path);
    }
}

/// A table without routes answers nothing and does not fail.
#[test]
fn an_empty_table_matches_nothing() {
    let empty = Routes { seed: 0, displacements: &[], edges: &[], nodes: &[], leaves: &[] };
    assert!(empty.find("/health").is_none());
    assert_eq!((MOST_PARAMETERS, NONE), (2, u16::MAX));
}

static SEGMENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut segments: Vec<&str> = doors().flat_map(|(_, door)| door.path.split('/').skip(1)).collect();
    segments.sort_unstable();
    segments.dedup();
    segments
});

/// Paths that are near to declared ones: declared segments in any order, and templates with a segment or two replaced.
fn paths() -> impl Strategy<Value = String> {
    let odd = || prop_oneof![3 => select(SEGMENTS.clone()).prop_map(str::to_owned), 1 => "[a-z%.;~ é]{0,9}"];
    let shuffled = prop::collection::vec(odd(), 0..7).prop_map(|segments| format!("/{}", segments.join("/")));
    let templates: Vec<&'static str> = doors().map(|(_, door)| door.path).collect();
    let changed =
        (select(templates), prop::collection::vec((0..8usize, odd()), 0..3)).prop_map(|(path, changes)| {
            let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
            for (at, segment) in changes {
                match segments.get_mut(at) {
                    Some(place) => *place = segment,
                    None => segments.push(segment),
                }
            }
            segments.join("/")
        });
    prop_oneof![shuffled, changed]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_table_agrees_with_looking_at_every_door(path in paths()) {
        assert_agree(&path);
    }
}
