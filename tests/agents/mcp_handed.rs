//! MCP servers as agents get them: named or written out, by default, with their secrets, and only over what an agent takes.

use crate::lab::{Lab, until};
use serde_json::{Value, json};

const CANARY: &str = "canary-5d1e-value";

/// What the agent was given last, as it keeps it itself: what it says of it is masked on its way here.
fn given(lab: &Lab, session: &str) -> Value {
    let native = lab.get(&format!("/agents/sessions/{session}"))["session"]["native_session_id"].clone();
    let kept = std::fs::read(lab.server.base().join("kept")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    kept[native.as_str().unwrap()]["mcp"].clone()
}

fn lab(can: &str) -> Lab {
    let lab = Lab::start();
    let store = format!("{}/kept", lab.base());
    lab.register("mine", &["--can", can, "--store", &store]);
    lab.post("/agents/credentials", json!({"name": "key", "value": CANARY}));
    let tool = json!({
        "name": "tool", "command": "python3", "args": ["-m", "tool"], "env": {"PLAIN": "1"}, "env_from": {"TOKEN": "key"},
    });
    let web =
        json!({"name": "web", "url": "https://example.com/mcp", "headers_from": {"authorization": "key"}});
    let events = json!({"name": "events", "url": "https://example.com/sse", "transport": "sse"});
    for server in [tool, web, events] {
        lab.post("/agents/mcp", server);
    }
    lab
}

fn tool() -> Value {
    json!({
        "name": "tool", "command": "python3", "args": ["-m", "tool"],
        "env": [{"name": "PLAIN", "value": "1"}, {"name": "TOKEN", "value": CANARY}],
    })
}

fn web() -> Value {
    json!({
        "type": "http", "name": "web", "url": "https://example.com/mcp",
        "headers": [{"name": "authorization", "value": CANARY}],
    })
}

#[test]
fn those_that_are_asked_for_reach_the_agent_and_no_secret_comes_back() {
    let lab = lab("http,sse,load");
    let inline = json!({"name": "inline", "command": "true"});
    let session = lab.session_with("mine", json!({"mcp": ["tool", "web", "events", inline]}));
    let events = json!({"type": "sse", "name": "events", "url": "https://example.com/sse", "headers": []});
    let inline = json!({"name": "inline", "command": "true", "args": [], "env": []});
    let wanted = json!([tool(), web(), events, inline]);
    assert_eq!(given(&lab, &session), wanted);
    let said = lab.turn(&session, "mcp")["text"].clone();
    let masked: Value = serde_json::from_str(&wanted.to_string().replace(CANARY, "***")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(said.as_str().unwrap()).unwrap(), masked);
    for path in ["", "/events?raw=true", "/items", "/turns"] {
        let shown = lab.get(&format!("/agents/sessions/{session}{path}"));
        assert!(!shown.to_string().contains("canary"), "{path}: {shown}");
    }
    let deleted = lab.delete("/agents/mcp/web");
    assert_eq!(deleted["sessions_using"], json!([session]));
}

#[test]
fn a_conversation_that_is_taken_up_again_has_them_again() {
    let lab = lab("http,load");
    let session = lab.session_with("mine", json!({"mcp": ["tool", "web"]}));
    lab.turn(&session, "echo hello");
    // What changes meanwhile holds from the next start.
    lab.post("/agents/credentials", json!({"name": "key", "value": "canary-another"}));
    lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
    let resumed = lab.post(&format!("/agents/sessions/{session}/resume"), json!({}));
    assert_eq!(resumed["continuity"], "native");
    let wanted = json!([tool(), web()]).to_string().replace(CANARY, "canary-another");
    assert_eq!(given(&lab, &session), serde_json::from_str::<Value>(&wanted).unwrap());
}

#[test]
fn defaults_go_to_whom_they_are_for_over_what_it_takes() {
    let lab = lab("load");
    let defaults = json!({"agents": ["mine"]});
    lab.post("/agents/mcp", json!({"name": "own", "command": "true", "default_for": defaults}));
    lab.post("/agents/mcp", json!({"name": "far", "url": "https://example.com/", "default_for": defaults}));
    lab.post(
        "/agents/mcp",
        json!({"name": "near", "command": "true", "default_for": {"cwds": [lab.base()]}}),
    );
    lab.post("/agents/mcp", json!({"name": "not", "command": "true", "default_for": {"agents": ["other"]}}));
    let names = |given: Value| -> Vec<String> {
        given.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let session = lab.session("mine");
    // One over HTTP is left out where nobody asked for it, and refused where somebody did.
    assert_eq!(names(given(&lab, &session)), ["near", "own"]);
    let none = lab.session_with("mine", json!({"mcp": []}));
    assert_eq!(given(&lab, &none), json!([]));
    let open = |mcp: Value| {
        let body = json!({"agent_id": "mine", "cwd": lab.base(), "mcp": mcp});
        lab.refused("POST", "/agents/sessions", Some(body))
    };
    assert_eq!(open(json!(["web"])), "409 capability_missing");
    assert_eq!(open(json!(["events"])), "409 capability_missing");
    lab.delete("/agents/credentials/key");
    assert_eq!(open(json!(["tool"])), "400 invalid_server");
    until("nothing of the refused runs", || (lab.processes("mine").len() == 2).then_some(()));
}
