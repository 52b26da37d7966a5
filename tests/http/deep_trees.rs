//! Trees deeper than a process may hold descriptors: each answer is whole, and the server goes on serving others.

use crate::raw::{Answer, get, post, request};
use crate::server::{Server, Setup};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use serde_json::json;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Levels of the tree; the server may hold a fourth as many descriptors.
const LEVELS: usize = 800;
const DESCRIPTORS: usize = LEVELS / 4;

/// `top/d/d/d…`, and beside each `d` a file and a directory.
fn build(top: &Path) {
    std::fs::create_dir(top).unwrap();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut here: OwnedFd = openat(CWD, top, flags, Mode::empty()).unwrap();
    let mode = Mode::from_raw_mode(0o755);
    for _ in 0..LEVELS {
        mkdirat(&here, "beside", mode).unwrap();
        openat(&here, "f", OFlags::CREATE | OFlags::WRONLY, mode).unwrap();
        mkdirat(&here, "d", mode).unwrap();
        here = openat(&here, "d", flags, Mode::empty()).unwrap();
    }
    let file = openat(&here, "deepest.txt", OFlags::CREATE | OFlags::WRONLY, mode).unwrap();
    rustix::io::write(&file, b"needle\n").unwrap();
}

fn ok(answer: Answer) -> serde_json::Value {
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()
}

fn server() -> Server {
    // A rule that may refuse something below every directory makes each entry be looked at.
    let policy = json!({ "defaults": {
        "paths": { "deny": ["**/secret"] },
        "limits": { "max_entries": 100_000, "timeout_seconds": 120 },
    } });
    let limit = format!("--nofile={DESCRIPTORS}");
    let server = Setup::new().policy(&policy.to_string()).under(&["prlimit", &limit]).start();
    build(&server.base().join("top"));
    server
}

#[test]
fn a_tree_deeper_than_the_descriptors_is_served_whole() {
    let server = server();
    let port = server.port;
    let found = ok(post(port, "/files/search", r#"{"path": "top", "pattern": "deepest.txt"}"#));
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    let found = ok(post(port, "/files/search", r#"{"path": "top", "pattern": "beside", "limit": 10000}"#));
    assert_eq!(found["results"].as_array().unwrap().len(), LEVELS);
    let found = ok(post(port, "/files/grep", r#"{"path": "top", "pattern": "needle"}"#));
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    let listed = ok(get(port, "/files/list?path=top&recursive=true&limit=10000"));
    assert_eq!(listed["entries"].as_array().unwrap().len(), 3 * LEVELS + 1);
    for format in ["tar.gz", "zip"] {
        let body = json!({ "paths": ["top"], "format": format });
        let packed = ok(post(port, "/files/archive", &body.to_string()));
        assert_eq!((&packed["entries"], &packed["skipped"]), (&json!(3 * LEVELS + 2), &json!(0)), "{format}");
    }
    ok(post(port, "/files/move", r#"{"source": "top", "destination": "moved"}"#));
    ok(request(port, "DELETE", "/files?path=moved", &[], None));
    assert_eq!(std::fs::read_dir(server.base()).unwrap().count(), 0);
}

#[test]
fn something_denied_far_down_holds_its_tree() {
    let server = server();
    let mut here: OwnedFd =
        openat(CWD, server.base().join("top"), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..LEVELS {
        here = openat(&here, "d", OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    openat(&here, "secret", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o644)).unwrap();
    let moved = post(server.port, "/files/move", r#"{"source": "top", "destination": "moved"}"#);
    assert_eq!((moved.status, moved.code().as_str()), (403, "path_denied"));
    let deleted = request(server.port, "DELETE", "/files?path=top", &[], None);
    assert_eq!((deleted.status, deleted.code().as_str()), (403, "path_denied"));
    assert!(server.base().join("top/d/d/d/f").exists());
    let packed = ok(post(server.port, "/files/archive", r#"{"paths": ["top"]}"#));
    assert_eq!((&packed["entries"], &packed["skipped"]), (&json!(3 * LEVELS + 2), &json!(1)));
    let _ = std::process::Command::new("rm").arg("-rf").arg(server.base().join("top")).status();
}
