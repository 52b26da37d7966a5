//! Every endpoint against every kind of caller, generated from the declaration.

use crate::raw::{connect, read_all, request};
use crate::server::{Server, Setup};
use policy_lang::endpoint::{DefaultState, Door, ENDPOINTS, EndpointDecl, GROUPS, Listener, Method};
use policy_lang::scope::ScopeSet;
use std::io::Write;

/// What callers hold; one token each.
const HOLDINGS: [&[&str]; 16] = [
    &["core:read"],
    &["files:read"],
    &["files:write"],
    &["files:delete"],
    &["process:run"],
    &["process:manage"],
    &["terminal:use"],
    &["system:read"],
    &["system:write"],
    &["devtools:run"],
    &["browser:use"],
    &["commands:run"],
    &["agents:read"],
    &["agents:run"],
    &["agents:manage"],
    &["sandboxes:exec"],
];

pub fn method(door: &Door) -> &'static str {
    match door.method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Delete => "DELETE",
    }
}

/// The door's path with something in place of each parameter.
pub fn path(door: &Door) -> String {
    let pieces = door.path.split('/').map(|piece| if piece.starts_with('{') { "1" } else { piece });
    pieces.collect::<Vec<_>>().join("/")
}

pub fn port(server: &Server, door: &Door) -> Option<u16> {
    if door.listener == Listener::Pty { server.pty_port } else { Some(server.port) }
}

/// Names what a call is refused for before the handler, or `None`.
fn refusal(decl: &EndpointDecl, holding: &[&str], enabled: bool) -> Option<(u16, &'static str)> {
    let held = ScopeSet::parse(holding.iter().copied()).unwrap();
    let names = |scope: &str| scope == "commands:run:{name}";
    let lacks = decl.scopes.iter().any(|scope| {
        if names(scope) {
            return !held.holds_command("1");
        }
        let scope = policy_lang::endpoint::Scope::from_name(scope).unwrap();
        !held.holds(scope)
    });
    match (enabled, lacks) {
        (false, _) => Some((404, "endpoint_disabled")),
        (true, true) => Some((403, "missing_scope")),
        (true, false) => None,
    }
}

/// Asks on one connection, so that the whole matrix is quick.
fn ask(server: &Server, decl: &EndpointDecl, token: &str) -> Option<(u16, String)> {
    let door = decl.doors.first()?;
    // A handshake that is none is refused after the policy has been asked.
    let answer = request(port(server, door)?, method(door), &path(door), &[("X-Api-Key", token)], None);
    Some((answer.status, answer.code()))
}

fn policy(closed: &[&str]) -> String {
    let tokens: Vec<_> = (0..HOLDINGS.len())
        .map(|at| serde_json::json!({"id": format!("t{at}"), "token_env": format!("T{at}"), "scopes": HOLDINGS[at]}))
        .collect();
    let groups: serde_json::Map<_, _> = GROUPS
        .iter()
        .filter(|group| group.default == DefaultState::OptIn)
        .map(|group| (group.name.to_owned(), true.into()))
        .collect();
    let endpoints: serde_json::Map<_, _> =
        closed.iter().map(|name| ((*name).to_owned(), serde_json::Value::from(false))).collect();
    serde_json::json!({"base_dir": "{base}", "groups": groups, "endpoints": endpoints, "auth": {"tokens": tokens},
        "defaults": {"limits": {"rate_per_minute": 1_000_000, "max_concurrency": 1000}}})
    .to_string()
}

fn start(closed: &[&str]) -> Server {
    let setup = Setup::new().policy(&policy(closed));
    (0..HOLDINGS.len()).fold(setup, |setup, at| setup.env(&format!("T{at}"), &format!("token-{at}"))).start()
}

/// Handlers that would do something are not reached: only what the policy lets through and no handler would change is
/// asked, everything else is asked by those who are refused.
fn judge(server: &Server, enabled: bool) {
    let mut asked = 0;
    for decl in ENDPOINTS.iter().filter(|decl| decl.auth_required) {
        for (at, holding) in HOLDINGS.iter().enumerate() {
            let Some((status, code)) = refusal(decl, holding, enabled) else { continue };
            let Some(got) = ask(server, decl, &format!("token-{at}")) else { continue };
            assert_eq!(got, (status, code.to_owned()), "{} with {holding:?}", decl.name);
            asked += 1;
        }
    }
    assert!(asked > 1000, "{asked}");
}

#[test]
fn row_97_scopes_hold_at_every_endpoint() {
    judge(&start(&[]), true);
}

#[test]
fn row_97_a_closed_endpoint_is_closed_to_everyone() {
    let closed: Vec<_> =
        ENDPOINTS.iter().filter(|decl| decl.group.as_str() != "core").map(|decl| decl.name).collect();
    let server = start(&closed);
    assert_eq!(server.pty_port, None);
    for decl in ENDPOINTS.iter().filter(|decl| decl.group.as_str() != "core") {
        for at in [0, 4, 15] {
            let Some(got) = ask(&server, decl, &format!("token-{at}")) else { continue };
            assert_eq!(got, (404, "endpoint_disabled".to_owned()), "{}", decl.name);
        }
    }
}

#[test]
fn row_98_what_is_reached_without_a_token() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "t").start();
    let body = r#"{"error":"unauthorized","type":"AuthError","code":"unauthorized"}"#;
    for decl in &ENDPOINTS {
        for door in decl.doors {
            let Some(port) = port(&server, door) else { continue };
            for suffix in ["", "/", "?a=b"] {
                let target = format!("{}{suffix}", path(door));
                let answer = request(port, method(door), &target, &[], None);
                if decl.name == "health" {
                    assert_eq!(answer.status, 200);
                    continue;
                }
                let got = String::from_utf8_lossy(&answer.body).into_owned();
                assert_eq!(answer.status, 401, "{} {target}: {got}", method(door));
                let plain = door.errors == policy_lang::endpoint::ErrorStyle::Plain;
                assert!(method(door) == "HEAD" || !plain || got == body, "{target}: {got}");
            }
        }
    }
    for turn in 0..200 {
        let answer = request(
            server.port,
            ["GET", "POST", "DELETE"][turn % 3],
            &format!("/invented/{turn}"),
            &[],
            None,
        );
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
    }
}

#[test]
fn row_98_a_socket_is_no_way_around() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "t").start();
    for (port, target) in [(server.pty_port.unwrap(), "/pty?session_id=1"), (server.port, "/tunnel")] {
        let mut stream = connect(port);
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(read_all(&mut stream).only().status, 401, "{target}");
    }
}
