//! Signing agents in and out, by each kind of method.

use crate::lab::{Lab, until};
use crate::server::Setup;
use serde_json::{Value, json};

fn auth(lab: &Lab, id: &str, body: Value) -> (u16, Value) {
    lab.ask("POST", &format!("/agents/catalog/{id}/auth"), Some(body))
}

#[test]
fn an_agent_signs_itself_in_and_out() {
    let lab = Lab::start();
    lab.register("mine", &["--auth", "agent", "--can", "logout"]);
    assert_eq!(lab.get("/agents/catalog/mine")["auth"], "unknown");
    let done = auth(&lab, "mine", json!({"action": "login"}));
    assert_eq!(done, (200, json!({"status": "ready"})));
    assert_eq!(lab.get("/agents/catalog/mine")["auth"], "ready");
    assert_eq!(auth(&lab, "mine", json!({"action": "logout"})), (200, json!({"status": "signed_out"})));
    assert_eq!(lab.get("/agents/catalog/mine")["auth"], "missing");
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
}

#[test]
fn a_method_that_needs_variables_gets_them_from_the_credentials() {
    let lab = Lab::start();
    lab.register("mine", &["--auth", "env"]);
    let (status, body) = auth(&lab, "mine", json!({"action": "login"}));
    assert_eq!((status, &body["code"]), (409, &json!("agent_auth_required")));
    assert_eq!(body["missing_credentials"], json!(["SCRIPTED_KEY"]));
    lab.post("/agents/credentials", json!({"name": "SCRIPTED_KEY", "value": "a-key-value"}));
    assert_eq!(auth(&lab, "mine", json!({"action": "login"})), (200, json!({"status": "ready"})));
}

#[test]
fn a_terminal_method_opens_a_terminal() {
    let lab = Lab::start();
    lab.register("mine", &["--auth", "terminal"]);
    let (status, body) = auth(&lab, "mine", json!({"action": "login", "method_id": "terminal"}));
    assert_eq!((status, &body["status"]), (200, &json!("pending_terminal")), "{body}");
    let session = body["pty_session_id"].as_str().unwrap();
    assert!(body["ws_url"].as_str().unwrap().ends_with(&format!("/pty?session_id={session}")));
    assert_eq!(lab.get("/agents/catalog/mine")["auth"], "unknown");
    let url = body["ws_url"].as_str().unwrap().split_once("/pty").unwrap().1.to_owned();
    type_into(&lab, &format!("/pty{url}"), r#"{"type": "input", "data": "open sesame\n"}"#);
    until("it is signed in", || (lab.get("/agents/catalog/mine")["auth"] == "ready").then_some(()));
}

/// Attaches to a terminal, types a line and goes away when the program has ended.
fn type_into(lab: &Lab, target: &str, line: &str) {
    let script = "import socket, sys
host, port, target, line = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
s = socket.create_connection((host, port))
s.sendall(f'GET {target} HTTP/1.1\\r\\nHost: localhost\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n'.encode())
s.recv(65536)
data = line.encode()
s.sendall(bytes([0x81, 0x80 | len(data)]) + bytes(4) + data)
s.settimeout(90)
try:
    while s.recv(65536): pass
except OSError: pass
";
    let port = lab.server.pty_port.unwrap().to_string();
    let done =
        std::process::Command::new("python3").args(["-c", script, "127.0.0.1", &port, target, line]).status();
    assert!(done.unwrap().success());
}

#[test]
fn without_terminals_there_is_no_terminal_method() {
    let policy = "endpoints: {pty_connect: {enabled: false}}";
    let lab = Lab::with(Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(policy));
    lab.register("mine", &["--auth", "terminal"]);
    let (status, body) = auth(&lab, "mine", json!({"action": "login"}));
    assert_eq!(
        (status, &body["code"], &body["capability"]),
        (409, &json!("capability_missing"), &json!("pty_connect"))
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    let lab = Lab::start();
    lab.register("mine", &["--auth", "agent,env"]);
    let refused =
        |id: &str, body: Value| lab.refused("POST", &format!("/agents/catalog/{id}/auth"), Some(body));
    assert_eq!(refused("mine", json!({})), "400 missing_parameter");
    assert_eq!(refused("mine", json!({"action": "leave"})), "400 invalid_parameter");
    assert_eq!(refused("mine", json!({"action": "login", "timeout_seconds": -1})), "400 invalid_parameter");
    assert_eq!(refused("mine", json!({"action": "login"})), "400 unknown_method");
    assert_eq!(refused("mine", json!({"action": "login", "method_id": "none"})), "400 unknown_method");
    assert_eq!(refused("mine", json!({"action": "logout"})), "409 capability_missing");
    assert_eq!(refused("nobody", json!({"action": "login"})), "404 agent_not_found");
    let (_, body) = auth(&lab, "mine", json!({"action": "login"}));
    assert_eq!(body["auth_methods"][0]["id"], "agent");
}
