//! Panics in handlers: each costs the request that met it, and nothing else. Needs a build with debug assertions, the
//! only ones that have faults on request.

use crate::matrix;
use crate::raw::{connect, get, read_all, request};
use crate::server::{PATIENCE, Server, Setup, full};
use crate::slots;
use crate::sockets::handshake;
use policy_lang::endpoint::{BodyKind, ENDPOINTS, Method};
use serde_json::{Value, json};
use std::io::{Read, Write};

const POLICY: &str = r#"{"base_dir":"{base}","endpoints":{
    "health":{"limits":{"rate_per_minute":1000000}},
    "capabilities_check":{"limits":{"max_concurrency":8,"rate_per_minute":1000000}}}}"#;
const BODY: &str = r#"{"endpoint":"health"}"#;

fn server() -> Option<Server> {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: a release build has no faults to ask for");
        return None;
    }
    let setup = Setup::new().policy(POLICY).env("ABX_TEST_FAULTS", "1");
    Some(setup.env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start())
}

fn faulty(fault: &str) -> Vec<u8> {
    let head = format!(
        "POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\nX-Test-Fault: {fault}\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    head.into_bytes()
}

#[test]
fn row_172_a_panic_costs_one_request() {
    let Some(server) = server() else { return };
    let count: u64 = if full() { 10_000 } else { 1_000 };
    let right = json!({"error": "The handler failed", "type": "InternalError", "code": "internal"});
    let mut stream = connect(server.port);
    for turn in 0..count {
        let fault = if turn % 2 == 0 { "before" } else { "after" };
        // The same connection serves on: pipelined behind the panic, another request gets its own answer.
        let mut bytes = faulty(fault);
        bytes.extend_from_slice(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(&bytes).unwrap();
        let mut seen = Vec::new();
        let mut piece = [0; 4096];
        while !seen.ends_with(br#"{"status":"ok"}"#) {
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0, "turn {turn}: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&piece[..read]);
        }
        let text = String::from_utf8(seen).unwrap();
        assert!(text.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "turn {turn}: {text}");
        let body = text.split("\r\n\r\n").nth(1).unwrap().split("HTTP/1.1").next().unwrap();
        assert_eq!(serde_json::from_str::<Value>(body).unwrap(), right);
    }
    slots::are_free(&server, 8, "/capabilities/check", BODY);
    let place = server.wait_for("a request failed: panic at ");
    assert!(place.contains("fault.rs:") && !place.contains("asked for"), "{place}");
    assert_eq!(audited(server), count);
}

/// How many failed calls to the endpoint the log knows of, once the server has stopped.
fn audited(server: Server) -> u64 {
    let log = server.dir.path().join("audit.jsonl");
    let kept = tempfile::NamedTempFile::new().unwrap();
    let text = {
        let (status, _) = server.stop_and(|| {
            std::fs::copy(&log, kept.path()).unwrap();
        });
        assert_eq!(status, Some(0));
        std::fs::read_to_string(kept.path()).unwrap()
    };
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let failed = lines.filter(|line| line["endpoint"] == "capabilities_check" && line["code"] == "internal");
    failed.map(|line| if line["event"] == "summary" { line["count"].as_u64().unwrap() } else { 1 }).sum()
}

#[test]
fn row_172_a_panic_in_a_streamed_answer() {
    let Some(server) = server() else { return };
    let count = if full() { 10_000 } else { 300 };
    for turn in 0..count {
        let mut stream = connect(server.port);
        stream.write_all(&faulty("stream")).unwrap();
        let mut seen = Vec::new();
        // Cut, so that no client takes the piece for the whole.
        let _ = stream.read_to_end(&mut seen);
        let text = String::from_utf8(seen).unwrap();
        assert!(!text.ends_with("0\r\n\r\n"), "turn {turn}: {text}");
    }
    slots::are_free(&server, 8, "/capabilities/check", BODY);
    assert_eq!(get(server.port, "/health").status, 200);
    let log = server.dir.path().join("audit.jsonl");
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(&log).unwrap();
        let cut = text.lines().filter(|line| line.contains(r#""event":"cut""#)).count();
        if cut == count {
            break;
        }
        assert!(std::time::Instant::now() < until, "{cut} of {count} lines");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn faults_are_not_to_be_had_without_the_variable() {
    let server = Setup::new().start();
    let answer = request(server.port, "GET", "/capabilities", &[("X-Test-Fault", "before")], None);
    assert_eq!(answer.status, 200);
}

#[test]
fn row_152_a_500_of_any_handler_says_nothing_of_the_machine() {
    if server().is_none() {
        return;
    }
    let groups: serde_json::Map<_, _> =
        policy_lang::endpoint::GROUPS.iter().map(|group| (group.name.to_owned(), true.into())).collect();
    let policy = json!({"base_dir": "{base}", "groups": groups,
        "defaults": {"limits": {"rate_per_minute": 1_000_000}}});
    let server = Setup::new().policy(&policy.to_string()).env("ABX_TEST_FAULTS", "1").start();
    let right = json!({"error": "The handler failed", "type": "InternalError", "code": "internal"});
    let mut failed = 0;
    for (decl, door) in ENDPOINTS.iter().flat_map(|decl| decl.doors.iter().map(move |door| (decl, door))) {
        let (Some(port), path) = (matrix::port(&server, door), matrix::path(door)) else { continue };
        let answer = if door.upgrade {
            let mut stream = connect(port);
            stream.write_all(handshake(&path, "X-Test-Fault: before\r\n").as_bytes()).unwrap();
            read_all(&mut stream).only().clone()
        } else {
            let kind = match door.body {
                BodyKind::Multipart => "multipart/form-data; boundary=x",
                _ => "application/json",
            };
            let headers = [("X-Test-Fault", "before"), ("Content-Type", kind)];
            let body = matches!(door.method, Method::Post).then_some(b"{}".as_slice());
            request(port, matrix::method(door), &path, &headers, body)
        };
        if answer.code() == "endpoint_not_built" {
            continue;
        }
        failed += 1;
        assert_eq!(answer.status, 500, "{} at {path}: {answer:?}", decl.name);
        if door.method == Method::Head {
            continue;
        }
        let mut body = answer.json();
        if let Some(detail) = body.as_object_mut().unwrap().remove("detail") {
            assert_eq!(detail["message"], right["error"], "{}", decl.name);
        }
        assert_eq!(body, right, "{} at {path}", decl.name);
    }
    assert!(failed > 60, "{failed}");
}
