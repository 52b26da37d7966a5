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

#[test]
fn an_extension_is_called_and_answers() {
    let lab = Lab::start();
    lab.register_with("mine", &[], json!({"allow_rpc": ["providers/list"]}));
    let session = lab.session("mine");
    let path = format!("/agents/sessions/{session}/rpc");
    let echo = lab.post(&path, json!({"method": "_test/echo", "params": {"a": 1}}));
    assert_eq!(echo["result"]["echo"]["a"], 1);
    assert!(echo["result"]["echo"]["sessionId"].as_str().unwrap().starts_with("native-"));
    let listed = lab.post(&path, json!({"method": "providers/list"}));
    assert_eq!(listed["result"], json!({"providers": []}));
    let unknown = lab.post(&path, json!({"method": "_test/nothing"}));
    assert_eq!(unknown["rpc_error"]["code"], -32601);
    let failed = lab.post(&path, json!({"method": "_test/fail"}));
    assert_eq!(
        failed["rpc_error"],
        json!({"code": -32042, "message": "failed as asked", "data": {"why": "test"}})
    );
    let refused = |body: Value| lab.refused("POST", &path, Some(body));
    assert_eq!(refused(json!({"method": "session/prompt"})), "400 method_not_allowed");
    assert_eq!(refused(json!({"method": "providers/set"})), "400 method_not_allowed");
    assert_eq!(refused(json!({"method": "_test/silence", "timeout_seconds": 0.3})), "504 agent_timeout");
    let process = lab.processes("mine")[0].clone();
    assert_eq!(process["session_ids"], json!([session]));
    let id = process["process_id"].as_str().unwrap();
    let stopped = lab.delete(&format!("/agents/processes/{id}?force=true"));
    assert_eq!(stopped["sessions_disconnected"], json!([session]));
    assert_eq!(refused(json!({"method": "_test/echo"})), "409 session_disconnected");
}
