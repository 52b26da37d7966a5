//! Installs and removals, from packages that a test makes itself and from a server on loopback.

use crate::follow::{Event, Follower};
use crate::lab::Lab;
use crate::server::Setup;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::{Read as _, Write as _};
use std::path::Path;

/// Serves one body to whoever asks, `count` times; its URL.
fn serve(body: &'static [u8], count: usize) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/agent", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(count) {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream
                .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes());
            let _ = stream.write_all(body);
        }
    });
    url
}

fn sum(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn install(lab: &Lab, id: &str, body: &Value) -> Vec<Event> {
    let path = format!("/agents/catalog/{id}/install");
    let mut stream = Follower::ask(lab.server.port, "POST", &path, None, Some(body), None);
    assert_eq!(stream.status, 200);
    stream.all()
}

fn register(lab: &Lab, id: &str, url: &str, sha256: &str) {
    let archive = json!({"archive": {"url": url, "sha256": sha256, "cmd": "bin/agent"}});
    lab.post("/agents/catalog", json!({"id": id, "command": "agent-of-a-test", "install": archive}));
}

/// An agent that shakes hands and ends with its input.
const PROGRAM: &[u8] = b"#!/bin/sh\nread line\necho '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}'\ncat >/dev/null\n";

#[test]
fn an_archive_is_fetched_checked_run_and_removed() {
    let lab = Lab::start();
    register(&lab, "mine", &serve(PROGRAM, 1), &sum(PROGRAM));
    assert_eq!(lab.get("/agents/catalog/mine")["installed"], false);
    let events = install(&lab, "mine", &json!({}));
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["started", "progress", "done"], "{events:#?}");
    assert_eq!(events[0].data, json!({"source": "archive", "version": sum(PROGRAM)}));
    assert_eq!(events[1].data, json!({"bytes": PROGRAM.len(), "total": PROGRAM.len()}));
    let done = &events[2].data;
    assert_eq!((&done["version"], &done["bytes"]), (&json!(sum(PROGRAM)), &json!(PROGRAM.len())));
    let command = done["command"].as_str().unwrap();
    assert!(Path::new(command).starts_with(lab.server.dir.path().join("state-packages/mine")));
    let shown = lab.get("/agents/catalog/mine");
    assert_eq!((&shown["installed"], &shown["command"]), (&json!(true), &json!(command)));
    // What is there already in this version is not fetched again: the server would not answer.
    let again = install(&lab, "mine", &json!({}));
    assert_eq!(again[1].data["command"], command);
    lab.post("/agents/catalog/mine/probe", json!({}));
    let kept = lab.delete("/agents/catalog/mine?keep_registration=true");
    let wanted =
        json!({"agent_id": "mine", "uninstalled": true, "unregistered": false, "bytes_freed": PROGRAM.len()});
    assert_eq!(kept, wanted);
    assert!(!lab.server.dir.path().join("state-packages/mine").exists());
    assert_eq!(lab.get("/agents/catalog/mine")["installed"], false);
    let gone = lab.delete("/agents/catalog/mine");
    assert_eq!(
        gone,
        json!({"agent_id": "mine", "uninstalled": false, "unregistered": true, "bytes_freed": 0})
    );
    assert_eq!(lab.refused("DELETE", "/agents/catalog/mine", None), "404 agent_not_found");
}

#[test]
fn another_checksum_leaves_nothing() {
    let lab = Lab::start();
    register(&lab, "mine", &serve(PROGRAM, 1), &sum(b"something else"));
    let events = install(&lab, "mine", &json!({}));
    assert_eq!(events.last().unwrap().data["code"], "checksum_mismatch");
    let left = std::fs::read_dir(lab.server.dir.path().join("state-packages/mine")).unwrap().count();
    assert_eq!((left, &lab.get("/agents/catalog/mine")["installed"]), (0, &json!(false)));
}

#[test]
fn a_program_that_cannot_be_run_is_no_install() {
    let lab = Lab::start();
    let note: &[u8] = b"echo this program is fetched by a script that was not run\n";
    register(&lab, "mine", &serve(note, 1), &sum(note));
    let events = install(&lab, "mine", &json!({}));
    let end = &events.last().unwrap().data;
    assert_eq!(
        (&end["code"], &end["error"]),
        (
            &json!("install_failed"),
            &json!(
                "the program `agent` cannot be run as it was installed; its package may have to run scripts: `allow_scripts`"
            )
        )
    );
    assert_eq!(lab.get("/agents/catalog/mine")["installed"], false);
}

#[test]
fn a_url_is_judged_when_it_is_named_and_when_it_is_opened() {
    let lab = Lab::under("endpoints: {agents_register: {params: {block_private_networks: true}}}");
    let archive =
        json!({"archive": {"url": "http://127.0.0.1:9/agent", "sha256": sum(PROGRAM), "cmd": "agent"}});
    let body = json!({"id": "mine", "command": "agent-of-a-test", "install": archive});
    assert_eq!(lab.refused("POST", "/agents/catalog", Some(body)), "403 url_not_allowed");
    let lab = Lab::under("endpoints: {agents_install: {params: {block_private_networks: true}}}");
    register(&lab, "mine", &serve(PROGRAM, 1), &sum(PROGRAM));
    assert_eq!(install(&lab, "mine", &json!({})).last().unwrap().data["code"], "url_not_allowed");
}

#[test]
fn what_cannot_be_installed_is_refused_before_the_stream() {
    let lab = Lab::under("endpoints: {agents_install: {params: {deny_commands: [npm]}}}");
    let refused =
        |id: &str, body: Value| lab.refused("POST", &format!("/agents/catalog/{id}/install"), Some(body));
    assert_eq!(refused("nobody", json!({})), "404 agent_not_found");
    assert_eq!(refused("goose", json!({})), "400 invalid_parameter");
    assert_eq!(refused("opencode", json!({"force": "yes"})), "400 invalid_parameter");
    assert_eq!(refused("opencode", json!({"version": "1; rm -rf /"})), "400 invalid_parameter");
    assert_eq!(refused("opencode", json!({})), "403 command_not_allowed");
}

/// Needs the public registry of npm: run it with `--ignored`.
#[test]
#[ignore = "needs a package registry"]
fn a_small_package_of_npm() {
    let mut setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents");
    if let Ok(certificates) = std::env::var("NODE_EXTRA_CA_CERTS") {
        setup = setup.env("NODE_EXTRA_CA_CERTS", &certificates);
    }
    let lab = Lab::with(setup);
    lab.post("/agents/catalog", json!({"id": "tiny", "command": "semver", "install": {"npm": "semver"}}));
    let events = install(&lab, "tiny", &json!({"version": "7.6.0"}));
    let done = &events.last().unwrap().data;
    assert_eq!(done["version"], "7.6.0", "{events:#?}");
    assert!(lab.server.dir.path().join("state-packages/tiny").exists());
    let (status, body) = lab.ask("POST", "/agents/catalog/tiny/probe", Some(json!({})));
    assert_eq!((status, &body["code"]), (503, &json!("agent_unavailable")));
    // A release that asks for a Node that nobody has.
    lab.post(
        "/agents/catalog",
        json!({"id": "new", "command": "x", "install": {"npm": "@agentclientprotocol/claude-agent-acp"}}),
    );
    let gone = lab.delete("/agents/catalog/tiny");
    assert_eq!((&gone["uninstalled"], &gone["unregistered"]), (&json!(true), &json!(true)));
    assert!(!lab.server.dir.path().join("state-packages/tiny").exists());
}
