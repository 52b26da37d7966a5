//! Errors that take more than a request: an install that still runs, a runtime that is too old, an agent that never speaks,
//! a machine without git, a place that is taken.

use crate::lab::{Lab, peer, until};
use crate::server::Setup;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::mpsc;

fn lab(env: &[(&str, &str)]) -> Lab {
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents");
    Lab::with(env.iter().fold(setup, |setup, (name, value)| setup.env(name, value)))
}

/// A program of a test, by its script.
fn program(folder: &Path, name: &str, script: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// An agent that answers the handshake, offers what `abilities` says, and from then on what `then` does.
fn scripted(lab: &Lab, id: &str, abilities: &str, then: &str) {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}).to_string();
    let hello = hello.replace("\"protocolVersion\":1", &format!("\"protocolVersion\":1{abilities}"));
    let script = format!("read line; echo '{hello}'; read line; {then}; cat >/dev/null");
    lab.post("/agents/catalog", json!({"id": id, "command": "sh", "args": ["-c", script]}));
}

#[test]
fn an_install_that_runs_keeps_others_out() {
    let lab = Lab::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/agent", listener.local_addr().unwrap().port());
    let (go, wait) = mpsc::channel::<()>();
    let (asked, came) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        asked.send(()).unwrap();
        let _ = wait.recv();
        let _ = stream.write_all(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n");
    });
    let archive = json!({"archive": {"url": url, "sha256": "0".repeat(64), "cmd": "agent"}});
    lab.post("/agents/catalog", json!({"id": "mine", "command": "agent-of-a-test", "install": archive}));
    let path = "/agents/catalog/mine/install";
    let mut first = crate::follow::Follower::ask(lab.server.port, "POST", path, None, Some(&json!({})), None);
    came.recv_timeout(crate::lab::PATIENCE).unwrap();
    let busy = json!({"error": "The agent is being installed or removed", "type": "ConflictError",
        "code": "install_running", "agent_id": "mine"});
    // A second caller has another place: the limit of the endpoint is one of each.
    assert_eq!(lab.ask("DELETE", "/agents/catalog/mine", None), (409, busy.clone()));
    go.send(()).unwrap();
    let end = first.all().pop().unwrap();
    assert_eq!((end.kind.as_str(), &end.data["code"]), ("error", &json!("install_failed")));
    until("it may be removed", || {
        let (status, body) = lab.ask("DELETE", "/agents/catalog/mine", None);
        assert!(status == 200 || body == busy, "{body}");
        (status == 200).then_some(())
    });
}

#[test]
fn two_installs_of_one_agent_do_not_meet() {
    let policy = "endpoints: {agents_install: {limits: {max_concurrency: 2}}}";
    let lab = Lab::under(policy);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/agent", listener.local_addr().unwrap().port());
    let archive = json!({"archive": {"url": url, "sha256": "0".repeat(64), "cmd": "agent"}});
    lab.post("/agents/catalog", json!({"id": "mine", "command": "agent-of-a-test", "install": archive}));
    let path = "/agents/catalog/mine/install";
    let first = crate::follow::Follower::ask(lab.server.port, "POST", path, None, Some(&json!({})), None);
    // It waits for an answer that never comes.
    let held = listener.accept().unwrap();
    assert_eq!(lab.refused("POST", path, Some(json!({}))), "409 install_running");
    drop((first, held));
}

#[test]
fn a_runtime_that_is_too_old_says_what_is_needed() {
    let bin = tempfile::tempdir().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let lab = lab(&[("PATH", &path)]);
    lab.post("/agents/catalog", json!({"id": "mine", "command": "x", "install": {"npm": "some-agent"}}));
    program(bin.path(), "node", "echo v18.2.0");
    let view = json!({"version": "3.1.4", "engines": {"node": ">=22"}, "bin": {"x": "x.js"}});
    program(bin.path(), "npm", &format!("echo '{view}'"));
    let path = "/agents/catalog/mine/install";
    assert_eq!(
        lab.ask("POST", path, Some(json!({}))),
        (
            409,
            json!({"error": "The agent needs node >=22, which is not here", "type": "ConflictError",
                "code": "runtime_missing", "runtime": "node", "need": "node >=22", "have": "18.2.0"})
        )
    );
    // One that is new enough goes on to the installer, which is none here.
    program(bin.path(), "node", "echo v22.1.0");
    let (status, answer) = lab.ask("POST", path, Some(json!({})));
    assert_eq!(status, 200, "{answer}");
    let told = answer.as_str().unwrap();
    assert!(told.contains("event: started\ndata: {\"source\":\"npm\",\"version\":\"3.1.4\"}"), "{told}");
    assert!(told.contains("event: error\ndata: {\"code\":\"install_failed\""), "{told}");
}

#[test]
fn a_machine_without_a_runtime_says_so() {
    let lab = lab(&[("PATH", "/nowhere")]);
    let (status, body) = lab.ask("POST", "/agents/catalog/gemini/install", Some(json!({})));
    assert_eq!(
        (status, &body["code"], &body["need"], &body["have"]),
        (409, &json!("runtime_missing"), &json!("node"), &json!(null)),
        "{body}"
    );
}

#[test]
fn without_git_nothing_is_kept() {
    let lab = lab(&[("PATH", "/nowhere")]);
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let at = |rest: &str| format!("/agents/sessions/{session}/{rest}");
    let missing = json!({"error": "git is not installed", "type": "RuntimeError", "code": "git_missing"});
    assert_eq!(lab.ask("POST", &at("checkpoints"), Some(json!({}))), (503, missing.clone()));
    // No turn is held up by it.
    assert_eq!(lab.turn(&session, "save a.txt on")["text"], "saved");
    for rest in ["changes", "diff"] {
        assert_eq!(lab.refused("GET", &at(rest), None), "503 git_missing", "{rest}");
    }
}

#[test]
fn no_more_sessions_are_open_than_may_be_of_one_process() {
    let lab = Lab::under(
        "endpoints: {agents_sessions_create: {limits: {rate_per_minute: 6000}}, \
         agents_sessions_resume: {limits: {rate_per_minute: 6000}}}",
    );
    lab.register_with("mine", &[], json!({"share_process": true}));
    let ids: Vec<String> = (0..32).map(|_| lab.session("mine")).collect();
    assert_eq!(lab.processes("mine").len(), 1);
    let body = json!({"agent_id": "mine", "cwd": lab.base()});
    let limit = json!({"error": "Too many open sessions", "type": "ResourceError", "code": "session_limit",
        "retry_after": 5, "limit": 32});
    assert_eq!(lab.ask("POST", "/agents/sessions", Some(body)), (429, limit.clone()));
    assert_eq!(lab.get("/agents/sessions")["counts"], json!({"idle": 32}));
    lab.post(&format!("/agents/sessions/{}/close", ids[0]), json!({}));
    let other = lab.session("mine");
    let resume = format!("/agents/sessions/{}/resume", ids[0]);
    assert_eq!(lab.ask("POST", &resume, Some(json!({}))), (429, limit));
    lab.post(&format!("/agents/sessions/{other}/close"), json!({}));
    assert_eq!(lab.post(&resume, json!({}))["session"]["state"], "idle");
}

#[test]
fn an_agent_that_never_shakes_hands_is_given_up() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "load,list"]);
    let session = lab.session("mine");
    lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
    // From now on it says nothing.
    lab.post("/agents/catalog", json!({"id": "mine", "command": "sh", "args": ["-c", "cat >/dev/null"]}));
    let asked = [
        ("POST", "/agents/sessions".to_owned(), Some(json!({"agent_id": "mine", "cwd": lab.base()}))),
        ("POST", format!("/agents/sessions/{session}/resume"), Some(json!({}))),
        ("GET", "/agents/catalog/mine/sessions".to_owned(), None),
        (
            "POST",
            "/agents/catalog/mine/adopt".to_owned(),
            Some(json!({"native_session_id": "n", "cwd": lab.base()})),
        ),
    ];
    std::thread::scope(|scope| {
        for (method, path, body) in &asked {
            let lab = &lab;
            scope.spawn(move || {
                assert_eq!(lab.refused(method, path, body.clone()), "504 agent_timeout", "{path}");
            });
        }
    });
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
}

#[test]
fn what_an_agent_says_when_it_is_asked_to_go_on_is_passed_on() {
    let lab = Lab::start();
    let fault = |id: u32, code: i32| {
        format!("echo '{}'", json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}))
    };
    for (then, wanted) in [
        (fault(2, -32000), "409 agent_auth_required"),
        (fault(2, -32603), "502 agent_protocol_error"),
        ("exit 3".to_owned(), "503 agent_unavailable"),
    ] {
        lab.register("mine", &[]);
        let session = lab.session("mine");
        lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
        scripted(&lab, "mine", "", &then);
        let path = format!("/agents/sessions/{session}/resume");
        assert_eq!(lab.refused("POST", &path, Some(json!({}))), wanted);
        let state = lab.get(&format!("/agents/sessions/{session}"))["session"]["state"].clone();
        assert_eq!(state, "disconnected", "{wanted}");
    }
}

#[test]
fn an_agent_that_ends_while_it_is_asked() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let path = format!("/agents/sessions/{session}/rpc");
    assert_eq!(lab.refused("POST", &path, Some(json!({"method": "_test/exit"}))), "503 agent_unavailable");
}

#[test]
fn an_agent_that_never_sets_an_option_is_given_up() {
    let lab = Lab::start();
    let modes = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "n", "modes": {"currentModeId": "a",
        "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}}});
    scripted(&lab, "mine", "", &format!("echo '{modes}'"));
    let session = lab.session("mine");
    let path = format!("/agents/sessions/{session}/options");
    let body = json!({"option_id": "mode", "value": "b"});
    assert_eq!(lab.refused("POST", &path, Some(body)), "504 agent_timeout");
    assert_eq!(lab.get(&path)["options"][0]["value"], "a", "what was not set is not shown as set");
}

#[test]
fn a_sign_in_needs_a_terminal_that_is_free() {
    let lab = Lab::under("endpoints: {agents_auth: {limits: {rate_per_minute: 6000}}}");
    lab.register("mine", &["--auth", "terminal"]);
    let body = json!({"action": "login", "method_id": "terminal"});
    let mut open = 0;
    let code = loop {
        let (status, answer) = lab.ask("POST", "/agents/catalog/mine/auth", Some(body.clone()));
        if status != 200 {
            break format!("{status} {}", answer["code"].as_str().unwrap());
        }
        open += 1;
        assert!(open < 200, "no end of terminals");
    };
    assert_eq!(code, "429 too_many_sessions", "after {open}");
}

#[test]
fn an_attachment_lies_where_the_rules_let_it() {
    let lab = Lab::under("endpoints: {agents_turns_start: {paths: {allow: ['{base}/elsewhere']}}}");
    lab.post("/agents/catalog", json!({"id": "mine", "command": peer()}));
    let session = lab.session("mine");
    let path = format!("/agents/sessions/{session}/turns");
    let attached = json!({"name": "a.txt", "mime_type": "text/plain", "content_base64": "aGVsbG8="});
    let body = json!({"prompt": "echo a", "attachments": [attached]});
    assert_eq!(lab.refused("POST", &path, Some(body)), "403 path_not_allowed");
    assert_eq!(lab.get(&path)["turns"], json!([]), "no turn was made of it");
}

#[test]
fn an_export_that_takes_too_long_is_given_up() {
    let lab = Lab::under("endpoints: {agents_export: {limits: {timeout_seconds: 1}}}");
    lab.register("mine", &[]);
    let session = lab.session("mine");
    assert_eq!(lab.turn(&session, "image")["state"], "completed");
    // An artifact that nobody ever writes to its end.
    let blobs = lab.server.dir.path().join("state/agents/blobs");
    let blob = until("the image is kept", || files(&blobs).pop());
    std::fs::remove_file(&blob).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&blob).status().unwrap();
    assert!(made.success());
    let got = lab.refused("GET", &format!("/agents/sessions/{session}/export?format=bundle"), None);
    assert_eq!(got, "408 timeout");
}

#[test]
fn a_skill_of_many_bytes_is_none() {
    let lab = Lab::start();
    let folder = lab.server.base().join("big");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a"), vec![b'x'; (4 << 20) + 1]).unwrap();
    let body = json!({"name": "big", "description": "d", "from_dir": "big"});
    let (status, refused) = lab.ask("POST", "/agents/skills", Some(body));
    assert_eq!((status, &refused["code"], &refused["limit"]), (413, &json!("too_large"), &json!(4 << 20)));
    assert_eq!(lab.get("/agents/skills"), json!({"skills": []}));
}

#[test]
fn a_process_that_is_being_stopped_is_draining() {
    let lab = Lab::start();
    let (opened, go) =
        (json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "n"}}), lab.server.base().join("go"));
    // It does not mind that its input is closed.
    let then = format!("echo '{opened}'; while [ ! -e {} ]; do sleep 0.05; done; exit 5", go.display());
    scripted(&lab, "mine", "", &then);
    let session = lab.session("mine");
    let process = lab.processes("mine")[0]["process_id"].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| lab.delete(&format!("/agents/processes/{process}?grace_seconds=30")));
        until("it is draining", || (lab.processes("mine")[0]["state"] == "draining").then_some(()));
        std::fs::write(&go, "").unwrap();
        let stopped = stop.join().unwrap();
        assert_eq!(
            (&stopped["exit_code"], &stopped["sessions_disconnected"]),
            (&json!(5), &json!([session])),
            "{stopped}"
        );
    });
}

#[test]
fn an_agent_that_could_answer_itself_is_warned_of() {
    let warning = "the agents group is open and no token is set: every process that reaches the port, an agent too, can \
         call it and answer its own requests; set `ABX_SERVER_TOKEN` or `auth.tokens`";
    let warnings = |lab: &Lab| lab.get("/capabilities")["warnings"].as_array().unwrap().clone();
    let warns = |lab: &Lab| warnings(lab).contains(&json!(warning));
    assert_eq!(warnings(&Lab::start()), [json!(warning)]);
    assert!(warns(&Lab::with(Setup::new().policy("groups: {agents: true}"))), "opened by the policy");
    let one = Lab::with(Setup::new().policy("endpoints: {agents_permissions_reply: true}"));
    assert!(warns(&one), "one endpoint is enough");
    assert!(!warns(&Lab::with(Setup::new())), "the group is closed");
    let token = "a-token-0123456789";
    let closed = lab(&[("ABX_SERVER_TOKEN", token)]).token(token);
    assert_eq!(warnings(&closed), Vec::<Value>::new(), "a token is set");
}

/// Every file beneath a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
