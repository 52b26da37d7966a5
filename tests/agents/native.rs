//! Conversations that an agent has stored itself.

use crate::lab::Lab;
use serde_json::{Value, json};

fn stored(lab: &Lab) -> String {
    let path = lab.server.dir.path().join("conversations.json");
    let of = |cwd: &str| json!({"cwd": cwd, "history": [], "mcp": null, "directories": null, "mode": "", "model": "", "verbose": false});
    let base = lab.base();
    std::fs::write(&path, json!({"a": of(&base), "b": of("/elsewhere"), "c": of(&base)}).to_string())
        .unwrap();
    path.display().to_string()
}

fn names(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["native_session_id"].as_str().unwrap()).collect()
}

#[test]
fn they_are_listed_page_by_page_and_by_directory() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "list", "--store", &stored(&lab)]);
    let first = lab.get("/agents/catalog/mine/sessions");
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first["sessions"][0], json!({"native_session_id": "a", "cwd": lab.base(), "title": "A talk"}));
    let second =
        lab.get(&format!("/agents/catalog/mine/sessions?cursor={}", first["next_cursor"].as_str().unwrap()));
    assert_eq!((names(&second), second.get("next_cursor")), (vec!["c"], None));
    let here = lab.get(&format!("/agents/catalog/mine/sessions?cwd={}", lab.base()));
    assert_eq!(names(&here), ["a", "c"]);
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
}

#[test]
fn an_agent_that_cannot_list_says_so() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    assert_eq!(lab.refused("GET", "/agents/catalog/mine/sessions", None), "409 capability_missing");
    assert_eq!(lab.refused("GET", "/agents/catalog/nobody/sessions", None), "404 agent_not_found");
    assert_eq!(lab.refused("GET", "/agents/catalog/goose/sessions", None), "409 agent_not_installed");
    assert_eq!(lab.refused("GET", "/agents/catalog/mine/sessions?cwd=/etc", None), "403 path_not_allowed");
}

#[test]
fn what_is_no_session_takes_no_calls() {
    let lab = Lab::start();
    let path = "/agents/sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/rpc";
    assert_eq!(lab.refused("POST", path, Some(json!({"method": "_test/echo"}))), "404 session_not_found");
    assert_eq!(lab.refused("POST", path, Some(json!({}))), "400 missing_parameter");
    assert_eq!(
        lab.refused("POST", path, Some(json!({"method": "_x", "params": []}))),
        "400 invalid_parameter"
    );
    assert_eq!(
        lab.refused("POST", path, Some(json!({"method": "_x", "timeout_seconds": 99}))),
        "400 invalid_parameter"
    );
}
