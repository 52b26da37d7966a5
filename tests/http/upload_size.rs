//! `ABX_MAX_UPLOAD_SIZE`: what is announced, explained and enforced is one and the same.

use crate::raw::{Answer, get, post};
use crate::server::{Server, Setup};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use std::process::Command;

fn upload(server: &Server, bytes: usize) -> Answer {
    let content = BASE64_STANDARD.encode(vec![b'x'; bytes]);
    post(server.port, "/upload", &json!({"path": "x", "content_base64": content}).to_string())
}

/// The largest upload and the largest request of both doors, as announced.
fn announced(server: &Server) -> [Value; 2] {
    let shown = get(server.port, "/capabilities").json();
    ["upload", "files_upload_stream"].map(|name| {
        let limits = &shown["endpoints"][name]["limits"];
        json!([limits["max_bytes"], limits["max_request_bytes"]])
    })
}

fn explained(size: &str, args: &[&str]) -> std::process::Output {
    let mut check = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    check.arg("check-config").args(args).env("ABX_MAX_UPLOAD_SIZE", size).env_remove("ABX_SERVER_POLICY");
    check.output().unwrap()
}

#[test]
fn unset_the_catalogue_holds() {
    let server = Setup::new().start();
    assert_eq!(announced(&server), [json!([16_000_000, 22_000_000]), json!([100_000_000, 134_000_000])]);
    let refused = upload(&server, 16_000_001);
    assert_eq!((refused.status, refused.json()["limit"].as_u64()), (413, Some(16_000_000)));
    assert_eq!(upload(&server, 16_000_000).status, 200);
}

#[test]
fn a_smaller_size_is_announced_explained_and_enforced() {
    let server = Setup::new().env("ABX_MAX_UPLOAD_SIZE", "1KB").start();
    assert_eq!(announced(&server), [json!([1000, 22_000_000]), json!([1000, 134_000_000])]);
    let refused = upload(&server, 1001);
    assert_eq!((refused.status, refused.json()["limit"].as_u64()), (413, Some(1000)));
    assert_eq!(upload(&server, 1000).status, 200);
    let told = explained("1KB", &["--explain", "files_upload_stream"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("limits.max_bytes             1000 bytes (1 KB)"), "{told}");
}

#[test]
fn a_larger_size_brings_a_request_that_has_room_for_it() {
    let server = Setup::new().env("ABX_MAX_UPLOAD_SIZE", "30MB").start();
    assert_eq!(announced(&server), [json!([30_000_000, 40_065_536]), json!([30_000_000, 134_000_000])]);
    assert_eq!(upload(&server, 30_000_000).status, 200);
    assert_eq!(upload(&server, 30_000_001).json()["code"], "file_too_large");
}

#[test]
fn what_is_no_size_is_refused_by_server_and_check_alike() {
    let named = "`ABX_MAX_UPLOAD_SIZE` is no size";
    for size in ["0", "5M", "-1", "1e9", "99999999999999999999"] {
        let refusal = Setup::new().env("ABX_MAX_UPLOAD_SIZE", size).try_start().unwrap_err();
        assert!(refusal.status == 1 && refusal.stderr.contains(named), "{size}: {}", refusal.stderr);
        let told = explained(size, &[]);
        let text = String::from_utf8(told.stderr).unwrap();
        assert!(told.status.code() == Some(1) && text.contains(named), "{size}: {text}");
    }
}
