//! The catalogue: known agents, registered ones, and what a probe finds.

use crate::lab::{Lab, peer};
use serde_json::{Value, json};

fn ids(list: &Value) -> Vec<&str> {
    list["agents"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap()).collect()
}

#[test]
fn known_agents_are_listed_page_by_page() {
    let lab = Lab::start();
    let known = ["claude", "codex", "copilot", "gemini", "goose", "kimi", "opencode", "qoder", "qwen"];
    assert_eq!(ids(&lab.get("/agents/catalog")), known);
    let first = lab.get("/agents/catalog?limit=4");
    assert_eq!(ids(&first), known[..4]);
    let second =
        lab.get(&format!("/agents/catalog?limit=9&cursor={}", first["next_cursor"].as_str().unwrap()));
    assert_eq!(ids(&second), known[4..]);
    assert!(second.get("next_cursor").is_none());
    lab.register("mine", &[]);
    assert_eq!(ids(&lab.get("/agents/catalog?installed=true")), ["mine"]);
    assert_eq!(lab.refused("GET", "/agents/catalog?cursor=x", None), "400 invalid_cursor");
    assert_eq!(lab.refused("GET", "/agents/catalog?limit=0", None), "400 invalid_parameter");
    assert_eq!(lab.refused("GET", "/agents/catalog?installed=maybe", None), "400 invalid_parameter");
}

#[test]
fn a_registered_agent_is_shown_without_its_values() {
    let lab = Lab::start();
    let shown = lab.register_with(
        "mine",
        &["--can", "load"],
        json!({"name": "Mine", "env": {"MODE": "value-canary"}, "credentials": ["SCRIPTED_KEY"], "allow_rpc": ["providers/list"]}),
    );
    let wanted = json!({
        "id": "mine", "name": "Mine", "kind": "custom", "command": peer(), "installed": true, "auth": "missing",
        "missing_credentials": ["SCRIPTED_KEY"], "sessions_open": 0, "args": ["--can", "load"], "env_names": ["MODE"],
        "client_fs": false, "client_terminal": false, "share_process": false, "allow_rpc": ["providers/list"],
    });
    assert_eq!(shown, wanted);
    assert_eq!(lab.get("/agents/catalog/mine"), wanted);
    assert!(!lab.get("/agents/catalog").to_string().contains("canary"));
    assert_eq!(lab.refused("GET", "/agents/catalog/nobody", None), "404 agent_not_found");
}

#[test]
fn what_makes_no_agent_is_refused() {
    let lab = Lab::start();
    let refused = |body: Value| lab.refused("POST", "/agents/catalog", Some(body));
    assert_eq!(refused(json!({"command": "x"})), "400 missing_parameter");
    assert_eq!(refused(json!({"id": "mine"})), "400 missing_parameter");
    assert_eq!(refused(json!({"id": "Mine", "command": "x"})), "400 invalid_agent");
    assert_eq!(refused(json!({"id": "mine", "command": "./x"})), "400 invalid_agent");
    assert_eq!(refused(json!({"id": "mine", "command": "x", "env": {"API_KEY": "v"}})), "400 invalid_agent");
    assert_eq!(
        refused(json!({"id": "mine", "command": "x", "env": {"LD_PRELOAD": "v"}})),
        "403 variable_not_allowed"
    );
    assert_eq!(
        refused(json!({"id": "mine", "command": "x", "env": {"ABX_SERVER_X": "v"}})),
        "403 variable_not_allowed"
    );
    assert_eq!(refused(json!({"id": "mine", "command": "x", "cwd_default": "/etc"})), "403 path_not_allowed");
    assert_eq!(
        refused(json!({"id": "mine", "command": "x", "allow_rpc": ["session/prompt"]})),
        "400 invalid_agent"
    );
    assert_eq!(
        refused(json!({"id": "mine", "command": "x", "install": {"npm": "a", "pypi": "b"}})),
        "400 invalid_agent"
    );
    assert_eq!(refused(json!({"id": "opencode", "command": "x"})), "409 builtin_agent");
}

#[test]
fn the_policy_bounds_what_may_be_registered_and_who_may() {
    let policy = "
auth:
  tokens:
    - {id: reader, token_env: READER, scopes: ['agents:read']}
    - {id: manager, token_env: MANAGER, scopes: ['agents:read', 'agents:manage']}
endpoints:
  agents_register: {params: {deny_commands: [sleep]}}
";
    let setup = crate::server::Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(policy);
    let lab = Lab::with(setup.env("READER", "reader-token-1").env("MANAGER", "manager-token"))
        .token("reader-token-1");
    lab.get("/agents/catalog");
    let body = |command: &str| Some(json!({"id": "mine", "command": command}));
    assert_eq!(lab.refused("POST", "/agents/catalog", body("true")), "403 missing_scope");
    assert_eq!(lab.refused("POST", "/agents/catalog/opencode/probe", Some(json!({}))), "403 missing_scope");
    let lab = lab.token("manager-token");
    assert_eq!(lab.refused("POST", "/agents/catalog", body("sleep")), "403 command_not_allowed");
    assert_eq!(lab.refused("POST", "/agents/catalog", body("/bin/sleep")), "403 command_not_allowed");
    lab.ok("POST", "/agents/catalog", body("true"));
}

#[test]
fn a_probe_is_remembered_as_the_agent_said_it() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "close,list,steering", "--auth", "agent"]);
    let probe = lab.post("/agents/catalog/mine/probe", json!({"session": true}));
    assert_eq!(
        (&probe["ok"], &probe["session_ok"], &probe["exit_code"]),
        (&json!(true), &json!(true), &json!(0))
    );
    assert_eq!(probe["stderr_tail"], "scripted agent started\n");
    let shown = lab.get("/agents/catalog/mine");
    let handshake = &shown["handshake"];
    for same in ["protocol_version", "agent_info", "agent_capabilities", "auth_methods", "ms"] {
        assert_eq!(probe[same], handshake[same], "{same}");
    }
    assert_eq!(handshake["agent_capabilities"]["sessionCapabilities"], json!({"list": {}, "close": {}}));
    assert_eq!(handshake["extensions"], json!({"_meta": {"steering": {"supported": true}}}));
    assert_eq!(
        (&shown["version"], &shown["capabilities"]),
        (&json!("1.2.3"), &handshake["agent_capabilities"])
    );
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
}

#[test]
fn a_probe_says_what_a_session_met() {
    let lab = Lab::start();
    lab.register("closed", &["--require-auth", "--auth", "agent"]);
    let probe = lab.post("/agents/catalog/closed/probe", json!({"session": true}));
    assert_eq!(probe["session_ok"], json!(false));
    assert_eq!(probe["session_error"]["code"], json!(-32000));
}

#[test]
fn what_is_no_agent_fails_each_in_its_way() {
    let lab = Lab::start();
    let register = |id: &str, command: &str, args: Value| {
        lab.post("/agents/catalog", json!({"id": id, "command": command, "args": args}));
    };
    register("sleeps", "sleep", json!(["60"]));
    register("fails", "sh", json!(["-c", "echo the reason >&2; exit 3"]));
    register("prints", "sh", json!(["-c", "while :; do echo noise; sleep 0.01; done"]));
    register("absent", "no-such-program-at-all", json!([]));
    let probe = |id: &str, body: Value| lab.ask("POST", &format!("/agents/catalog/{id}/probe"), Some(body));
    let (status, body) = probe("sleeps", json!({"timeout_seconds": 0.5}));
    assert_eq!((status, &body["code"], &body["stderr_tail"]), (504, &json!("agent_timeout"), &json!("")));
    let (status, body) = probe("prints", json!({"timeout_seconds": 0.5}));
    assert_eq!((status, &body["code"]), (504, &json!("agent_timeout")));
    let (status, body) = probe("fails", json!({}));
    assert_eq!((status, &body["code"]), (503, &json!("agent_unavailable")));
    assert_eq!((&body["exit_code"], &body["stderr_tail"]), (&json!(3), &json!("the reason\n")));
    let (status, body) = probe("absent", json!({}));
    assert_eq!((status, &body["code"]), (409, &json!("agent_not_installed")));
    let answer = r#"read line; echo why >&2; echo '{"id":1,"result":{"protocolVersion":2}}'; cat >/dev/null"#;
    register("later", "sh", json!(["-c", answer]));
    let (status, body) = probe("later", json!({}));
    assert_eq!((status, &body["code"]), (502, &json!("agent_protocol_error")));
    assert_eq!((&body["stderr_tail"], &body["rpc_error"]), (&json!("why\n"), &Value::Null));
    let answer = r#"read line; echo '{"id":1,"error":{"code":-32603,"message":"no"}}'; cat >/dev/null"#;
    register("refuses", "sh", json!(["-c", answer]));
    let (status, body) = probe("refuses", json!({}));
    assert_eq!((status, &body["code"]), (502, &json!("agent_protocol_error")));
    assert_eq!(body["rpc_error"], json!({"code": -32603, "message": "no"}));
    for (body, code) in [
        (json!({"timeout_seconds": 0}), "400 invalid_parameter"),
        (json!({"timeout_seconds": 1000}), "400 invalid_parameter"),
        (json!({"cwd": "/etc"}), "403 path_not_allowed"),
        (json!({"cwd": "nowhere"}), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/catalog/fails/probe", Some(body.clone())), code, "{body}");
    }
    assert_eq!(lab.refused("POST", "/agents/catalog/nobody/probe", Some(json!({}))), "404 agent_not_found");
    for id in ["sleeps", "fails", "prints", "absent", "later", "refuses"] {
        assert_eq!(lab.processes(id), Vec::<Value>::new());
    }
}
