//! Options, slash commands and plans; files and terminals that an agent asks its client for.

use crate::lab::Lab;
use crate::log;
use serde_json::{Value, json};

fn option(options: &Value, id: &str) -> Value {
    let listed = options["options"].as_array().unwrap();
    listed.iter().find(|option| option["option_id"] == id).cloned().unwrap_or_default()
}

#[test]
fn options_are_set_by_the_way_in_which_they_were_told() {
    let lab = Lab::start();
    lab.register(
        "mine",
        &["--offer", "modes,models", "--can", "load", "--store", &format!("{}/kept", lab.base())],
    );
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/options");
    let told = lab.get(&path);
    assert_eq!(told["commands"], json!([]));
    let (mode, model) = (option(&told, "mode"), option(&told, "model"));
    assert_eq!(
        (&mode["via"], &mode["category"], &mode["type"]),
        (&json!("mode"), &json!("mode"), &json!("select"))
    );
    assert_eq!(model["via"], "model");
    let set = lab.post(&path, json!({"category": "mode", "value": "code"}));
    assert_eq!(option(&set, "mode")["value"], "code");
    let other = model["choices"].as_array().unwrap().last().unwrap()["value"].clone();
    let set = lab.post(&path, json!({"option_id": "model", "value": other}));
    assert_eq!(option(&set, "model")["value"], other);
    let (status, body) = lab.ask("POST", &path, Some(json!({"option_id": "mode", "value": "sleepy"})));
    assert_eq!((status, &body["code"]), (400, &json!("invalid_value")));
    assert_eq!(body["choices"], mode["choices"]);
    for (body, code) in [
        (json!({"option_id": "mode", "value": "bypass"}), "403 mode_denied"),
        (json!({"option_id": "colour", "value": "red"}), "404 option_not_found"),
        (json!({"option_id": "mode"}), "400 missing_parameter"),
        (json!({"value": "code"}), "400 missing_parameter"),
        (json!({"option_id": "mode", "category": "mode", "value": "code"}), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
    }
    lab.post(&format!("/agents/sessions/{id}"), json!({"policy": {"default": "allow_all"}}));
    lab.post(&path, json!({"option_id": "mode", "value": "bypass"}));
    lab.post(&path, json!({"option_id": "mode", "value": "code"}));
    // What was chosen is chosen again when the agent comes back.
    lab.post(&format!("/agents/sessions/{id}/close"), json!({}));
    assert_eq!(
        lab.refused("POST", &path, Some(json!({"option_id": "mode", "value": "ask"}))),
        "409 session_disconnected"
    );
    lab.post(&format!("/agents/sessions/{id}/resume"), json!({}));
    let now = lab.get(&path);
    assert_eq!((&option(&now, "mode")["value"], &option(&now, "model")["value"]), (&json!("code"), &other));
}

#[test]
fn what_the_agent_tells_by_itself_shows() {
    let lab = Lab::start();
    lab.register("mine", &["--offer", "modes"]);
    let id = lab.session("mine");
    lab.turn(&id, "updates");
    let told = lab.get(&format!("/agents/sessions/{id}/options"));
    assert_eq!(told["commands"], json!([{"name": "review", "description": "Reviews", "hint": "what"}]));
    assert_eq!(option(&told, "mode")["value"], "code");
    let session = lab.get(&format!("/agents/sessions/{id}"))["session"].clone();
    assert_eq!(
        (&session["title"], &session["plan_progress"]),
        (&json!("Updates"), &json!({"done": 1, "total": 3}))
    );
}

#[test]
fn a_plan_keeps_its_versions() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/plan");
    let none =
        json!({"entries": [], "progress": {"done": 0, "total": 0}, "updated_at": null, "source": null});
    assert_eq!(lab.get(&path), none);
    lab.turn(&id, "plan 0 2\nplan 1 2\nplan 1 2");
    let plan = lab.get(&format!("{path}?history=true"));
    assert_eq!((&plan["progress"], &plan["source"]), (&json!({"done": 1, "total": 2}), &json!("plan")));
    assert_eq!(plan["entries"][0], json!({"content": "step 0", "priority": "medium", "status": "completed"}));
    assert_eq!(plan["history"].as_array().unwrap().len(), 1);
    let session = lab.get(&format!("/agents/sessions/{id}"));
    assert_eq!(session["session"]["plan_progress"], json!({"done": 1, "total": 2}));
    assert_eq!(lab.refused("GET", &format!("{path}?history=perhaps"), None), "400 invalid_parameter");
}

#[test]
fn files_and_terminals_are_served_where_they_are_switched_on() {
    let lab = Lab::start();
    lab.register("off", &[]);
    lab.register_with("on", &[], json!({"client_fs": true, "client_terminal": true}));
    std::fs::write(lab.server.base().join("a.txt"), "one\ntwo\n").unwrap();
    let (here, off, on) = (lab.base(), lab.session("off"), lab.session("on"));
    let refused = lab.turn(&off, &format!("read {here}/a.txt"));
    assert!(refused["text"].as_str().unwrap().starts_with("error -32601"), "{refused}");
    let said = |prompt: &str| lab.turn(&on, prompt)["text"].as_str().unwrap().to_owned();
    assert_eq!(said(&format!("read {here}/a.txt")), r#"{"content":"one\ntwo\n"}"#);
    assert!(said(&format!("read {here}/absent.txt")).starts_with("error -32002"));
    assert!(said("read /etc/passwd").starts_with("error -32603"));
    assert!(said("read a.txt").starts_with("error -32602"));
    assert_eq!(said(&format!("write {here}/new/b.txt text")), "{}");
    assert_eq!(std::fs::read_to_string(lab.server.base().join("new/b.txt")).unwrap(), "text");
    assert!(said("write /etc/agent-was-here text").starts_with("error -32603"));
    let printed = said("terminal echo hello there");
    assert!(printed.contains("hello there") && printed.contains("\"exitCode\":0"), "{printed}");
    let kinds = log::kinds(&lab, &on, &["file", "terminal"]);
    assert_eq!(kinds, ["file.written", "terminal.output", "terminal.exited"]);
}
