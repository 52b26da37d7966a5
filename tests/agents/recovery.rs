//! A server that dies in the middle of a turn, and what the next one makes of it.

use crate::lab::{Lab, until};
use crate::log;
use crate::server::Setup;
use serde_json::{Value, json};
use std::path::Path;

/// A server whose base directory and state outlive it.
fn lab(dir: &Path) -> Lab {
    lab_with(dir, Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents"))
}

/// The same, set up otherwise.
fn lab_with(dir: &Path, setup: Setup) -> Lab {
    let name = |part: &str| dir.join(part).display().to_string();
    let setup = setup.no_base_dir();
    let setup = setup.arg("--base-dir").arg(&name("base")).arg("--state-dir").arg(&name("state"));
    Lab { server: setup.start(), token: None }
}

#[test]
fn a_restart_interrupts_what_ran_and_keeps_what_waited() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("base")).unwrap();
    let here = dir.path().join("base").display().to_string();
    let first = lab(dir.path());
    first.register("mine", &["--can", "load", "--store", &format!("{here}/kept")]);
    let opened = first.post("/agents/sessions", json!({"agent_id": "mine", "cwd": here}));
    let id = opened["session"]["session_id"].as_str().unwrap().to_owned();
    let turns = format!("/agents/sessions/{id}/turns");
    first.turn(&id, "echo before");
    let asked = first.turn(&id, "permission ls");
    assert_eq!(asked["state"], "waiting");
    let request = asked["pending_requests"][0]["request_id"].as_str().unwrap().to_owned();
    let queued = first.post(&turns, json!({"prompt": "echo kept"}))["turn"]["turn_id"].clone();
    let before = log::at(dir.path(), &id, &[]);
    // Killed, with no time to say anything.
    drop(first);

    let second = lab(dir.path());
    let session = second.get(&format!("/agents/sessions/{id}"))["session"].clone();
    assert_eq!(
        (&session["state"], &session["queue"][0]["turn_id"], &session["process_id"]),
        (&json!("disconnected"), &queued, &json!(null))
    );
    let cut = second.get(&format!("{turns}?state=interrupted"));
    assert_eq!(
        (&cut["turns"][0]["turn_id"], &cut["turns"][0]["stop_reason"]),
        (&asked["turn_id"], &json!("server_restart"))
    );
    let lost = second.get(&format!("/agents/requests?state=any&request_id={request}"));
    assert_eq!(lost["requests"][0]["state"], "lost");
    let refused = second.refused(
        "POST",
        &format!("/agents/requests/{request}/decision"),
        Some(json!({"decision": "allow"})),
    );
    assert_eq!(refused, "409 request_resolved");
    // Nothing that was seen is gone, and the numbers go on without a gap.
    let after = log::at(dir.path(), &id, &[]);
    assert_eq!(after[..before.len()], before[..]);
    let numbers: Vec<i64> = after.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=i64::try_from(after.len()).unwrap()).collect::<Vec<_>>());
    let kinds: Vec<&Value> = after[before.len()..].iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["permission.resolved", "turn.interrupted", "session.state"]);
    // A further prompt brings the agent back; what waited goes first.
    let last = second.post(&turns, json!({"prompt": "echo after"}))["turn"]["turn_id"].clone();
    let done = |turn: &Value| {
        let turn = turn.as_str().unwrap();
        second.get(&format!("{turns}/{turn}?wait_ms=60000"))["turn"].clone()
    };
    let (kept, last) = (done(&queued), done(&last));
    assert_eq!((&kept["text"], &last["text"]), (&json!("kept"), &json!("after")));
    assert!(kept["ended_at"].as_f64() <= last["started_at"].as_f64());
}

#[test]
fn a_session_that_was_starting_failed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("base")).unwrap();
    let here = dir.path().join("base").display().to_string();
    let first = lab(dir.path());
    first.post("/agents/catalog", json!({"id": "stuck", "command": "sleep", "args": ["1000"]}));
    let port = first.server.port;
    let body = json!({"agent_id": "stuck", "cwd": here}).to_string();
    let opening = std::thread::spawn(move || {
        // Cut off.
        let _ = std::panic::catch_unwind(|| {
            crate::client::Client::new(port).ask("POST", "/agents/sessions", None, Some(&body))
        });
    });
    until("it starts", || (first.get("/agents/sessions")["counts"] == json!({"starting": 1})).then_some(()));
    drop(first);
    let second = lab(dir.path());
    assert_eq!(second.get("/agents/sessions")["counts"], json!({"failed": 1}));
    opening.join().unwrap();
}

/// Leaves a turn that was running when its server was killed; yields its session.
fn cut_turn(dir: &Path) -> String {
    std::fs::create_dir(dir.join("base")).unwrap();
    let first = lab(dir);
    first.register("mine", &[]);
    let opened = first
        .post("/agents/sessions", json!({"agent_id": "mine", "cwd": dir.join("base").display().to_string()}));
    let id = opened["session"]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(first.turn(&id, "permission ls")["state"], "waiting");
    id
}

/// Waits until the log on disk says that the turn is over. No server is asked: it must do so by itself.
fn interrupted(dir: &Path, session: &str) {
    until("the turn is interrupted", || {
        log::at(dir, session, &["turn.interrupted"])
            .first()
            .map(|event| assert!(event["turn_id"].is_string()))
    });
}

#[test]
fn a_start_with_the_group_open_looks_after_what_was_cut_before_anybody_calls() {
    let dir = tempfile::tempdir().unwrap();
    let id = cut_turn(dir.path());
    assert!(log::at(dir.path(), &id, &["turn.interrupted"]).is_empty());
    let _second = lab(dir.path());
    interrupted(dir.path(), &id);
}

#[test]
fn one_endpoint_of_the_group_that_is_open_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let id = cut_turn(dir.path());
    let _second = lab_with(dir.path(), Setup::new().policy("endpoints: {agents_list: true}"));
    interrupted(dir.path(), &id);
}

#[test]
fn a_server_whose_policy_closes_the_group_leaves_the_store_alone_until_a_reload_opens_it() {
    let dir = tempfile::tempdir().unwrap();
    let id = cut_turn(dir.path());
    let closed = lab_with(dir.path(), Setup::new().policy("{}"));
    assert_eq!(closed.ask("GET", "/health", None).0, 200);
    assert_eq!(closed.refused("GET", "/agents/sessions", None), "404 endpoint_disabled");
    // The store has room for one server: another can have it, for this one does not.
    let other = lab(dir.path());
    assert_eq!(other.get("/agents/sessions")["counts"], json!({"disconnected": 1}));
    drop(other);
    // Nothing has been touched by the one that is closed, and a reload changes that.
    let before = log::at(dir.path(), &id, &[]).len();
    let third = cut_again(dir.path(), &id);
    assert!(log::at(dir.path(), &id, &[]).len() > before);
    drop(third);
    let left = || log::at(dir.path(), &id, &["turn.interrupted"]).len();
    assert_eq!(left(), 1);
    std::fs::write(closed.server.dir.path().join("policy.yaml"), "endpoints: {\"group:agents\": true}")
        .unwrap();
    closed.server.signal("HUP");
    until("the second turn is interrupted", || (left() == 2).then_some(()));
    assert_eq!(closed.get("/agents/sessions")["counts"], json!({"disconnected": 1}));
}

/// Resumes the session and leaves another turn that runs.
fn cut_again(dir: &Path, id: &str) -> Lab {
    let lab = lab(dir);
    let turn = lab.turn(id, "permission ls");
    assert_eq!(turn["state"], "waiting", "{turn}");
    lab
}
