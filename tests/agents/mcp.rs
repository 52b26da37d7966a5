//! MCP servers: stored, shown without their secrets, and checked over their streams and over HTTP.

use crate::lab::Lab;
use crate::receiver::{Receiver, Reply, Sent};
use serde_json::{Value, json};
use std::time::Duration;

/// An MCP server in a few lines of Python; `FAULT` makes it misbehave.
const SERVER: &str = r#"
import json, os, sys
print("hello from the server", file=sys.stderr, flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask:
        continue
    method, result, error = ask["method"], {}, None
    if os.environ.get("FAULT") == "silent":
        continue
    if os.environ.get("FAULT") == "error":
        error = {"code": -1, "message": "no, " + os.environ["KEY"]}
    elif method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "py", "version": "1"}
    elif method == "tools/list" and not ask["params"].get("cursor"):
        tool = {"name": "one", "description": "key " + str(len(os.environ.get("KEY", "")))}
        result = {"tools": [tool], "nextCursor": "2"}
    elif method == "tools/list":
        result = {"tools": [{"name": "two", "inputSchema": {}}]}
    answer = {"jsonrpc": "2.0", "id": ask["id"]}
    answer.update({"error": error} if error else {"result": result})
    print(json.dumps(answer), flush=True)
"#;

fn python(lab: &Lab, name: &str, more: &Value) -> Value {
    let mut body = json!({"name": name, "command": "python3", "args": ["-u", "-c", SERVER]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    lab.post("/agents/mcp", body)["server"].clone()
}

#[test]
fn servers_are_stored_listed_by_default_and_deleted() {
    let lab = Lab::start();
    let stored = python(&lab, "py", &json!({"env": {"A": "canary-1"}, "default_for": {"agents": ["mine"]}}));
    assert_eq!(stored["env_names"], json!(["A"]));
    let body = json!({"name": "web", "url": "https://example.com/mcp", "headers": {"x-key": "canary-2"}});
    let web = lab.post("/agents/mcp", body)["server"].clone();
    assert_eq!(
        web,
        json!({"name": "web", "transport": "http", "url": "https://example.com/mcp", "env_names": [],
            "header_names": ["x-key"], "default_for": {"agents": [], "cwds": []}})
    );
    let listed = lab.get("/agents/mcp");
    assert_eq!(listed["servers"], json!([stored, web]));
    assert!(!listed.to_string().contains("canary"));
    assert_eq!(lab.get("/agents/mcp?agent_id=mine")["servers"], json!([stored]));
    assert_eq!(lab.get("/agents/mcp?agent_id=other")["servers"], json!([]));
    let gone = lab.delete("/agents/mcp/web");
    assert_eq!(gone, json!({"name": "web", "deleted": true, "sessions_using": []}));
    assert_eq!(lab.refused("DELETE", "/agents/mcp/web", None), "404 server_not_found");
}

#[test]
fn what_is_no_server_or_not_allowed_is_refused() {
    let policy = "
endpoints:
  agents_mcp_set:
    params: {deny_commands: [sh], env_deny: ['SECRET_*'], block_private_networks: true}
";
    let lab = Lab::under(policy);
    for (body, wanted) in [
        (json!({"command": "true"}), "400 missing_parameter"),
        (json!({"name": "a b", "command": "true"}), "400 invalid_server"),
        (json!({"name": "a"}), "400 invalid_server"),
        (json!({"name": "a", "command": "true", "url": "http://x/"}), "400 invalid_server"),
        (json!({"name": "a", "url": "no url"}), "400 invalid_parameter"),
        (json!({"name": "a", "command": "sh"}), "403 command_not_allowed"),
        (json!({"name": "a", "command": "true", "env": {"SECRET_X": "1"}}), "403 variable_not_allowed"),
        (json!({"name": "a", "command": "true", "env_from": {"SECRET_X": "k"}}), "403 variable_not_allowed"),
        (json!({"name": "a", "url": "http://127.0.0.1/"}), "403 url_not_allowed"),
        (json!({"name": "a", "url": "http://2130706433/"}), "403 url_not_allowed"),
        (json!({"name": "a", "url": "http://localhost/"}), "403 url_not_allowed"),
        (json!({"name": "a", "url": "file:///etc/passwd"}), "403 url_not_allowed"),
        (json!({"name": "a", "url": "http://169.254.169.254/"}), "403 url_not_allowed"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/mcp", Some(body.clone())), wanted, "{body}");
    }
    assert_eq!(lab.get("/agents/mcp")["servers"], json!([]));
    assert_eq!(lab.refused("POST", "/agents/mcp/none/check", None), "404 server_not_found");
}

#[test]
fn a_program_is_asked_for_its_tools_with_a_secret() {
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "key", "value": "canary-secret"}));
    python(&lab, "py", &json!({"env_from": {"KEY": "key"}}));
    let found = lab.post("/agents/mcp/py/check", json!({}));
    assert_eq!(found["ok"], true);
    assert_eq!(found["server_info"], json!({"name": "py", "version": "1"}));
    assert_eq!(
        found["tools"],
        json!([{"name": "one", "description": "key 13"}, {"name": "two", "description": ""}])
    );
    assert_eq!(found["stderr_tail"], "hello from the server\n");
    let check = lab.get("/agents/mcp")["servers"][0]["last_check"].clone();
    assert_eq!((&check["ok"], &check["tools"]), (&json!(true), &json!(2)));
}

#[test]
fn a_program_that_fails_says_how() {
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "key", "value": "canary-secret"}));
    python(&lab, "py", &json!({"env_from": {"KEY": "key"}, "env": {"FAULT": "error"}}));
    let (status, body) = lab.ask("POST", "/agents/mcp/py/check", Some(json!({})));
    assert_eq!((status, &body["code"]), (502, &json!("mcp_check_failed")));
    assert_eq!(body["error"], "the server refused: no, ***");
    python(&lab, "py", &json!({"env": {"FAULT": "silent"}}));
    let (status, body) = lab.ask("POST", "/agents/mcp/py/check", Some(json!({"timeout_seconds": 2})));
    assert_eq!((status, &body["code"]), (504, &json!("mcp_timeout")));
    let noise = json!(["-c", "echo noise"]);
    for (command, args) in [("false", json!([])), ("no-such-program", json!([])), ("sh", noise)] {
        lab.post("/agents/mcp", json!({"name": "bad", "command": command, "args": args}));
        assert_eq!(lab.refused("POST", "/agents/mcp/bad/check", None), "502 mcp_check_failed", "{command}");
    }
    lab.post("/agents/mcp", json!({"name": "bad", "command": "true", "env_from": {"K": "absent"}}));
    assert_eq!(lab.refused("POST", "/agents/mcp/bad/check", None), "400 invalid_server");
}

fn answered(sent: &Sent) -> Option<Value> {
    let ask = sent.json();
    let result = match ask["method"].as_str()? {
        "initialize" => {
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "web"}})
        }
        "tools/list" => json!({"tools": [{"name": "look", "description": "at it"}]}),
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": ask["id"], "result": result}))
}

#[test]
fn a_url_is_asked_over_streamable_http() {
    let web = Receiver::start(|sent, before| match answered(sent) {
        // The first answer is a document, the others are streams.
        Some(answer) if before == 0 => {
            let reply = Reply::json(&answer);
            Reply { headers: format!("{}mcp-session-id: s1\r\n", reply.headers), ..reply }
        }
        Some(answer) => Reply {
            headers: "content-type: text/event-stream\r\n".to_owned(),
            body: format!(": hi\n\nevent: message\ndata: {{\"method\":\"ping\"}}\n\ndata: {answer}\n\n"),
            ..Reply::status(200)
        },
        None => Reply::status(202),
    });
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "key", "value": "canary-secret"}));
    let body = json!({"name": "web", "url": web.url("/mcp"), "headers_from": {"authorization": "key"}});
    lab.post("/agents/mcp", body);
    let found = lab.post("/agents/mcp/web/check", json!({}));
    assert_eq!(
        (&found["server_info"], &found["tools"][0]["name"]),
        (&json!({"name": "web"}), &json!("look"))
    );
    let sent = web.sent();
    let methods: Vec<Value> = sent.iter().map(|sent| sent.json()["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
    assert!(sent.iter().all(|sent| sent.headers["authorization"] == "canary-secret" && sent.path == "/mcp"));
    assert!(!sent[0].headers.contains_key("mcp-session-id"));
    assert_eq!(
        (sent[2].headers["mcp-session-id"].as_str(), sent[2].headers["mcp-protocol-version"].as_str()),
        ("s1", "2025-06-18")
    );
}

#[test]
fn a_url_that_fails_says_how_and_the_rules_hold_at_each_use() {
    let elsewhere = Receiver::start(|_, _| Reply::status(200));
    let place = elsewhere.url("/");
    let web = Receiver::start(move |sent, _| match sent.path.as_str() {
        "/moved" => Reply { headers: format!("location: {place}\r\n"), ..Reply::status(302) },
        "/slow" => Reply::status(200).slow(Duration::from_secs(200)),
        "/text" => Reply { body: "hello".to_owned(), ..Reply::status(200) },
        _ => Reply::status(500),
    });
    let lab = Lab::start();
    for (path, seconds, wanted) in [
        ("/moved", 60, "502 mcp_check_failed"),
        ("/text", 60, "502 mcp_check_failed"),
        ("/broken", 60, "502 mcp_check_failed"),
        ("/slow", 2, "504 mcp_timeout"),
    ] {
        lab.post("/agents/mcp", json!({"name": "web", "url": web.url(path)}));
        let asked = Some(json!({"timeout_seconds": seconds}));
        assert_eq!(lab.refused("POST", "/agents/mcp/web/check", asked), wanted, "{path}");
    }
    assert!(elsewhere.sent().is_empty(), "a redirect is not followed");
    // A server that was stored under other rules is not connected to.
    let strict = Lab::under("endpoints: {agents_mcp_check: {params: {block_private_networks: true}}}");
    strict.post("/agents/mcp", json!({"name": "web", "url": web.url("/text")}));
    let before = web.sent().len();
    assert_eq!(strict.refused("POST", "/agents/mcp/web/check", None), "403 url_not_allowed");
    assert_eq!(web.sent().len(), before);
}
