//! Production agents against this server, without a network: what each says of itself, and that it opens a session.
//!
//! One table for all. Where agents differ the difference stands in it as what is expected, so that an update that changes
//! an agent is seen. `.ci/agents` installs them, in pinned versions, and runs this.

use crate::lab::Lab;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What is expected of an agent.
struct Expected {
    id: &'static str,
    /// Its program beneath the folder of agents; a script is run by Node.
    program: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    credential: Option<&'static str>,
    name: Option<&'static str>,
    version: Option<&'static str>,
    load: bool,
    sessions: &'static [&'static str],
    auth_methods: &'static [&'static str],
    lists: Option<u16>,
}

const AGENTS: &[Expected] = &[
    Expected {
        id: "example",
        program: "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js",
        args: &[],
        env: &[],
        credential: None,
        name: None,
        version: None,
        load: false,
        sessions: &[],
        auth_methods: &[],
        lists: Some(409),
    },
    Expected {
        id: "qwen",
        program: "node_modules/.bin/qwen",
        args: &["--acp", "--auth-type=openai"],
        env: &[("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"), ("OPENAI_MODEL", "scripted")],
        credential: Some("OPENAI_API_KEY"),
        name: Some("qwen-code"),
        version: Some("0.15.10"),
        load: true,
        sessions: &["list", "resume"],
        auth_methods: &["openai", "qwen-oauth"],
        lists: Some(200),
    },
    Expected {
        id: "opencode",
        program: "node_modules/.bin/opencode",
        args: &["acp"],
        env: &[(
            "OPENCODE_CONFIG_CONTENT",
            r#"{"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:9/v1"},
                "models": {"m": {}}}}, "model": "scripted/m", "small_model": "scripted/m"}"#,
        )],
        credential: None,
        name: Some("OpenCode"),
        version: Some("1.18.33"),
        load: true,
        sessions: &["close", "fork", "list", "resume"],
        auth_methods: &["opencode-login"],
        lists: Some(200),
    },
];

fn folder() -> PathBuf {
    let server = PathBuf::from(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    server.ancestors().nth(2).unwrap().join("agents")
}

#[test]
#[ignore = "needs production agents: run .ci/agents"]
fn each_agent_does_what_the_table_says() {
    let lab = Lab::start();
    let mut faults = Vec::new();
    for expected in AGENTS {
        let program = folder().join(expected.program);
        assert!(program.exists(), "{} is not installed: run .ci/agents", program.display());
        let id = format!("real-{}", expected.id);
        let path = program.display().to_string();
        let (command, args) = match path.ends_with(".js") {
            true => ("node".to_owned(), vec![path]),
            false => (path, Vec::new()),
        };
        let args: Vec<String> =
            args.into_iter().chain(expected.args.iter().map(|arg| (*arg).to_owned())).collect();
        let env: serde_json::Map<String, Value> =
            expected.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        lab.post("/agents/catalog", json!({"id": id, "command": command, "args": args, "env": env}));
        if let Some(name) = expected.credential {
            lab.post("/agents/credentials", json!({"name": name, "value": "no-real-key", "agents": [id]}));
        }
        let (status, probe) =
            lab.ask("POST", &format!("/agents/catalog/{id}/probe"), Some(json!({"session": true})));
        let seen = seen(status, &probe);
        let wanted = wanted(expected);
        if seen != wanted {
            faults.push(format!("{}\n  wanted {wanted}\n  got    {seen}\n  of     {probe}", expected.id));
        }
        let (lists, body) = lab.ask("GET", &format!("/agents/catalog/{id}/sessions"), None);
        if expected.lists.is_some_and(|wanted| wanted != lists) {
            faults.push(format!("{}: its conversations: {lists} {body}", expected.id));
        }
        if !lab.processes(&id).is_empty() {
            faults.push(format!("{}: a process is left", expected.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn wanted(expected: &Expected) -> Value {
    json!({
        "status": 200, "name": expected.name, "version": expected.version, "load": expected.load,
        "sessions": expected.sessions, "auth_methods": expected.auth_methods, "session_ok": true,
    })
}

/// The members of a probe that the table speaks of.
fn seen(status: u16, probe: &Value) -> Value {
    let can = &probe["agent_capabilities"]["sessionCapabilities"];
    let mut sessions: Vec<&String> = can.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    sessions.sort();
    let methods = probe["auth_methods"].as_array().into_iter().flatten().map(|method| &method["id"]);
    json!({
        "status": status,
        "name": probe["agent_info"]["name"],
        "version": probe["agent_info"]["version"],
        "load": probe["agent_capabilities"]["loadSession"],
        "sessions": sessions,
        "auth_methods": methods.collect::<Vec<_>>(),
        "session_ok": probe["session_ok"],
    })
}
