//! Credentials: they reach the agents that they are bound to, and nobody else.

use crate::lab::Lab;
use crate::server::Setup;
use serde_json::{Value, json};

const CANARY: &str = "canary-7f3a-value";

fn set(lab: &Lab, body: Value) -> Value {
    lab.post("/agents/credentials", body)
}

#[test]
fn what_goes_in_is_listed_and_never_comes_out() {
    let lab = Lab::start();
    let answer = set(&lab, json!({"name": "SCRIPTED_KEY", "value": CANARY, "agents": ["mine"]}));
    assert_eq!(
        answer,
        json!({"name": "SCRIPTED_KEY", "source": "value", "present": true, "applies": "next_start"})
    );
    lab.register_with("mine", &["--noise"], json!({"credentials": ["SCRIPTED_KEY"]}));
    assert_eq!(lab.get("/agents/catalog/mine")["auth"], "ready");
    // An agent that prints what it was given does not get it out either.
    lab.post(
        "/agents/catalog",
        json!({"id": "leaks", "command": "sh", "args": ["-c", "echo $K >&2; echo $K; exit 1"]}),
    );
    set(&lab, json!({"name": "K", "value": CANARY}));
    let (status, body) = lab.ask("POST", "/agents/catalog/leaks/probe", Some(json!({})));
    assert_eq!((status, &body["stderr_tail"]), (503, &json!("***\n")));
    let process = lab.get("/agents/processes?agent_id=leaks")["processes"][0]["process_id"].clone();
    let logs = lab.get(&format!("/agents/processes/{}/logs", process.as_str().unwrap()));
    let lines: Vec<_> = logs["lines"].as_array().unwrap().iter().map(|line| line["text"].clone()).collect();
    assert_eq!(lines, ["***", "***"]);
    for path in ["/agents/credentials", "/agents/catalog", "/agents/catalog/mine", "/agents/processes"] {
        assert!(!lab.get(path).to_string().contains("canary"), "{path}");
    }
    let listed = lab.get("/agents/credentials");
    assert_eq!(listed["credentials"][1]["name"], "SCRIPTED_KEY");
    let members: Vec<_> = listed["credentials"][1].as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["name", "source", "present", "agents", "updated_at"]);
    assert!(!lab.server.stderr().join("\n").contains("canary"));
}

#[test]
fn an_agent_that_says_it_does_not_get_it_out() {
    let lab = Lab::start();
    set(&lab, json!({"name": "SCRIPTED_KEY", "value": CANARY, "agents": ["mine"]}));
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let turn = lab.turn(&session, "env SCRIPTED_KEY");
    assert_eq!(turn["text"], "SCRIPTED_KEY=***");
    for path in ["", "/events?raw=true", "/items", "/turns", "/export?format=json&redact=false"] {
        let shown = lab.get(&format!("/agents/sessions/{session}{path}"));
        assert!(!shown.to_string().contains("canary"), "{path}: {shown}");
    }
    assert_eq!(lab.post("/agents/search", json!({"query": "canary"}))["hits"], json!([]));
}

#[test]
fn from_the_environment_and_from_a_file() {
    let setup = Setup::new()
        .env("ABX_SERVER_ENABLED_GROUPS", "agents")
        .env("UPSTREAM_KEY", CANARY)
        .file("key.txt", &format!("{CANARY}\n"));
    let lab = Lab::with(setup);
    set(&lab, json!({"name": "a", "from_env": "UPSTREAM_KEY", "expose_as": "FROM_ENV"}));
    set(&lab, json!({"name": "b", "from_file": format!("{}/key.txt", lab.base()), "expose_as": "FROM_FILE"}));
    let absent = set(&lab, json!({"name": "c", "from_env": "NOT_THERE"}));
    assert_eq!(absent["present"], false);
    let script = format!(
        "[ \"$FROM_ENV$FROM_FILE\" = {CANARY}{CANARY} ] && [ -z \"$UPSTREAM_KEY\" ]; exit $((4 + $?))"
    );
    lab.post("/agents/catalog", json!({"id": "mine", "command": "sh", "args": ["-c", script]}));
    let (_, body) = lab.ask("POST", "/agents/catalog/mine/probe", Some(json!({})));
    assert_eq!(body["exit_code"], 4, "{body}");
}

#[test]
fn another_agent_does_not_see_it() {
    let lab = Lab::start();
    set(&lab, json!({"name": "K", "value": CANARY, "agents": ["one"]}));
    let script = "[ -n \"$K\" ]; exit $((4 + $?))";
    for (id, status) in [("one", 4), ("two", 5)] {
        lab.post("/agents/catalog", json!({"id": id, "command": "sh", "args": ["-c", script]}));
        let (_, body) = lab.ask("POST", &format!("/agents/catalog/{id}/probe"), Some(json!({})));
        assert_eq!(body["exit_code"], status, "{body}");
    }
}

#[test]
fn what_may_not_be_one_is_refused() {
    let policy = "
endpoints:
  agents_credentials_set: {params: {deny_vars: ['FORBIDDEN_*']}}
auth:
  tokens: [{id: a, token_env: MY_TOKEN, scopes: ['*']}]
";
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(policy);
    let lab = Lab::with(setup.env("MY_TOKEN", "the-server-token")).token("the-server-token");
    let refused = |body: Value| lab.refused("POST", "/agents/credentials", Some(body));
    assert_eq!(refused(json!({"value": "v"})), "400 missing_parameter");
    assert_eq!(refused(json!({"name": "K"})), "400 missing_parameter");
    assert_eq!(refused(json!({"name": "a b", "value": "v"})), "400 invalid_name");
    assert_eq!(refused(json!({"name": "../x", "value": "v"})), "400 invalid_name");
    assert_eq!(refused(json!({"name": "K", "value": "v", "from_env": "E"})), "400 invalid_parameter");
    assert_eq!(refused(json!({"name": "K", "value": ""})), "400 invalid_parameter");
    assert_eq!(refused(json!({"name": "K", "value": 7})), "400 invalid_parameter");
    assert_eq!(refused(json!({"name": "K", "value": "v", "agents": ["A B"]})), "400 invalid_parameter");
    for variable in ["ABX_SERVER_TOKEN", "LD_PRELOAD", "MY_TOKEN", "FORBIDDEN_KEY"] {
        assert_eq!(
            refused(json!({"name": variable, "value": "v"})),
            "403 variable_not_allowed",
            "{variable}"
        );
        assert_eq!(
            refused(json!({"name": "k", "value": "v", "expose_as": variable})),
            "403 variable_not_allowed"
        );
    }
    for variable in ["ABX_SERVER_TOKEN", "MY_TOKEN", "FORBIDDEN_KEY"] {
        let body = json!({"name": "k", "from_env": variable});
        assert_eq!(refused(body), "403 variable_not_allowed", "{variable}");
    }
    assert_eq!(refused(json!({"name": "k", "from_file": "/etc/passwd"})), "403 path_not_allowed");
    assert_eq!(lab.get("/agents/credentials"), json!({"credentials": []}));
}

#[test]
fn one_is_forgotten() {
    let lab = Lab::start();
    set(&lab, json!({"name": "K", "value": CANARY}));
    let gone = lab.delete("/agents/credentials/K");
    assert_eq!(gone, json!({"name": "K", "deleted": true, "running_processes_using": []}));
    assert_eq!(lab.refused("DELETE", "/agents/credentials/K", None), "404 credential_not_found");
    let state = lab.server.dir.path().join("state/agents");
    for entry in std::fs::read_dir(state).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file())
    {
        let bytes = std::fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{:?}", entry.path());
    }
}
