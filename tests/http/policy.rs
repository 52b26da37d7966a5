//! The policy while the server runs: reload, doors beside a closed door, core.

use crate::raw::{connect, get, read_all, request};
use crate::server::Setup;
use crate::server::machine::ClosedPort;
use std::io::Write;

#[test]
fn row_115_a_bad_policy_is_kept_out() {
    let server = Setup::new().policy(r#"{"base_dir":"{base}","endpoints":{"env_set":false}}"#).start();
    let path = server.dir.path().join("policy.yaml");
    let good = std::fs::read_to_string(&path).unwrap();
    let revision = || {
        get(server.port, "/capabilities").json()["policy"]["revision"].as_str().unwrap_or_default().to_owned()
    };
    let before = revision();
    for (turn, bad) in ["{{{", "endpoints: {env_set: fals", &good[..good.len() / 2], "nonsense: 1", "", "\n"]
        .iter()
        .enumerate()
    {
        std::fs::write(&path, bad).unwrap();
        server.signal("HUP");
        server.wait_for_count("the policy was not reloaded", turn + 1);
        assert_eq!(revision(), before, "{bad}");
        assert_eq!(request(server.port, "POST", "/env", &[], None).code(), "endpoint_disabled");
    }
    std::fs::write(&path, good.replace("env_set", "env_list")).unwrap();
    server.signal("HUP");
    server.wait_for("policy reloaded");
    assert_ne!(revision(), before);
    assert_eq!(get(server.port, "/env").code(), "endpoint_disabled");
}

#[test]
fn a_pipe_in_the_place_of_the_policy_holds_nothing_up() {
    let server = Setup::new().policy(r#"{"base_dir":"{base}","endpoints":{"env_set":false}}"#).start();
    let path = server.dir.path().join("policy.yaml");
    std::fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from(0o600), 0)
        .unwrap();
    server.signal("HUP");
    server.wait_for("again: it is no regular file");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "endpoints: {env_list: false}").unwrap();
    server.signal("HUP");
    server.wait_for("policy reloaded");
}

#[test]
fn row_118_doors_beside_a_closed_door() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"pty_connect":false,"tunnel_connect":false,"download":false,"files_download_stream":false}}"#;
    let server = Setup::new().policy(policy).start();
    assert_eq!(server.pty_port, None, "the terminal listener is not opened");
    assert_ne!(get(server.port, "/pty/sessions").code(), "endpoint_disabled");
    for (method, target) in [
        ("GET", "/tunnel"),
        ("GET", "/api/v2/sandboxes/x/tunnel"),
        ("GET", "/download?path=a"),
        ("GET", "/api/v2/sandboxes/x/download?path=a"),
    ] {
        let answer = request(server.port, method, target, &[], None);
        assert_eq!((answer.status, answer.code().as_str()), (404, "endpoint_disabled"), "{method} {target}");
    }
    let head = request(server.port, "HEAD", "/api/v2/sandboxes/x/download?path=a", &[], None);
    assert_eq!(head.status, 404);
    let mut stream = connect(server.port);
    let handshake = "GET /tunnel HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(handshake.as_bytes()).unwrap();
    assert_eq!(read_all(&mut stream).only().code(), "endpoint_disabled");
}

#[test]
fn row_119_core_cannot_be_closed() {
    for policy in [
        r#"{"endpoints":{"health":false}}"#,
        r#"{"endpoints":{"capabilities":{"enabled":false}}}"#,
        r#"{"groups":{"core":false}}"#,
    ] {
        let refusal = Setup::new().policy(policy).try_start().unwrap_err();
        assert_eq!(refusal.status, 1);
        assert!(refusal.stderr.contains("core"), "{}", refusal.stderr);
    }
    let server = Setup::new().policy(r#"{"base_dir":"{base}","endpoints":{"*":false}}"#).start();
    assert_eq!((get(server.port, "/health").status, get(server.port, "/capabilities").status), (200, 200));
}

#[test]
fn a_source_that_is_named_is_never_passed_over() {
    let missing = Setup::new().arg("--policy").arg("{dir}/none.yaml").try_start().unwrap_err();
    assert!(missing.status == 1 && missing.stderr.contains("none.yaml"), "{}", missing.stderr);
    let by_name = Setup::new().env("ABX_SERVER_POLICY_FILE", "{dir}/none.json").try_start().unwrap_err();
    assert!(by_name.status == 1 && by_name.stderr.contains("none.json"), "{}", by_name.stderr);
    let inline = Setup::new().env("ABX_SERVER_POLICY", "{").try_start().unwrap_err();
    assert!(inline.status == 1 && inline.stderr.contains("ABX_SERVER_POLICY"), "{}", inline.stderr);
    let inline = Setup::new().env("ABX_SERVER_POLICY", r#"{"endpoints":{"shell":false}}"#).start();
    assert_eq!(request(inline.port, "POST", "/shell", &[], None).code(), "endpoint_disabled");
}

#[test]
fn faults_before_the_first_connection_are_one_message() {
    let base = Setup::new().arg("--base-dir").arg("{dir}/none").try_start().unwrap_err();
    assert_eq!(base.status, 2, "a flag twice is a usage error: {}", base.stderr);
    let base = Setup::new().policy(r#"{"base_dir":"/nowhere"}"#).no_base_dir().try_start().unwrap_err();
    assert_eq!(base.status, 1);
    assert!(base.stderr.contains("/nowhere") && base.stderr.contains("--base-dir"), "{}", base.stderr);
    let group = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agent").try_start().unwrap_err();
    assert!(group.status == 1 && group.stderr.contains("agents"), "{}", group.stderr);
    let flag = Setup::new().arg("--nonsense").try_start().unwrap_err();
    assert_eq!(flag.status, 2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refusal = Setup::new().port(&port).try_start().unwrap_err();
    assert!(refusal.status == 1 && refusal.stderr.contains(&port), "{}", refusal.stderr);
}

/// What one endpoint looks like in `GET /capabilities`.
fn shown(port: u16, endpoint: &str) -> serde_json::Value {
    get(port, "/capabilities").json()["endpoints"][endpoint].clone()
}

#[test]
fn capabilities_show_the_policy_that_decides() {
    let policy = r#"{"base_dir":"{base}","defaults":{"paths":{"deny":["**/.git/**"]}},"endpoints":{
        "download":{"limits":{"max_bytes":"5MB"},"paths":{"allow":["out"],"deny":["*.pem"]}},"code_run":{"limits":{"timeout_seconds":5}}}}"#;
    let server = Setup::new().policy(policy).start();
    assert_eq!(
        shown(server.port, "download"),
        serde_json::json!({"method": "GET", "path": "/download", "group": "file_ops", "summary": "Read a file as base64",
            "streaming": false, "enabled": true, "allowed": true, "reason": null, "rule": "default:on",
            "scopes": ["files:read"], "limits": {"max_bytes": 5_000_000}, "params": {},
            "paths": {"allow": ["out"], "deny": ["*.pem", "**/.git/**"], "symlinks": "within"}})
    );
    let closed = shown(server.port, "code_run");
    assert_eq!(
        (
            &closed["enabled"],
            &closed["allowed"],
            &closed["reason"],
            &closed["rule"],
            &closed["limits"]["timeout_seconds"]
        ),
        (
            &false.into(),
            &false.into(),
            &"endpoint_disabled".into(),
            &"default:opt-in:dev_tools".into(),
            &5.into()
        )
    );
}

#[test]
fn a_compiled_set_decides_as_its_document_does() {
    let policy =
        r#"{"preset":"read-only","endpoints":{"env_set":true,"download":{"paths":{"deny":["**/.env"]}}}}"#;
    let written = Setup::new().policy(policy).start();
    let source = written.dir.path().join("policy.yaml");
    let set = written.dir.path().join("policy.json");
    let program = env!("CARGO_BIN_EXE_agent-sandbox-server");
    let compiled = std::process::Command::new(program)
        .args(["compile", "--policy"])
        .arg(&source)
        .arg("-o")
        .arg(&set)
        .output();
    let compiled = compiled.unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let set = set.display().to_string();
    let booted = Setup::new().arg("--policy").arg(&set).env("ABX_SERVER_ENABLED_GROUPS", "agents").start();
    let opened = Setup::new().policy(policy).env("ABX_SERVER_ENABLED_GROUPS", "agents").start();
    let document = |server: &crate::server::Server| {
        let text = String::from_utf8(get(server.port, "/capabilities").body).unwrap();
        let mut document: serde_json::Value =
            serde_json::from_str(&text.replace(&server.base().display().to_string(), "BASE")).unwrap();
        document.as_object_mut().unwrap().remove("warnings");
        document
    };
    assert_eq!(document(&booted), document(&opened));
    assert_eq!(shown(booted.port, "download")["paths"]["deny"], serde_json::json!(["**/.env"]));
    assert_eq!(request(booted.port, "POST", "/shell", &[], None).code(), "endpoint_disabled");
    let changed =
        Setup::new().arg("--policy").arg(&set).arg("--preset").arg("locked").try_start().unwrap_err();
    assert_eq!(changed.status, 2, "{}", changed.stderr);
    let text = std::fs::read_to_string(&set).unwrap().replacen("env_set", "env_lis", 1);
    std::fs::write(&set, text).unwrap();
    let flipped = Setup::new().arg("--policy").arg(&set).try_start().unwrap_err();
    assert!(flipped.status == 1 && flipped.stderr.contains("compile"), "{}", flipped.stderr);
}

#[test]
fn path_entries_of_a_set_that_the_compiler_refuses_end_the_start_and_keep_a_reload_out() {
    let policy = r#"{"endpoints":{"download":{"paths":{"deny":["**/.env"]}}}}"#;
    let server = Setup::new().policy(policy).file("a", "text").start();
    let path = server.dir.path().join("policy.yaml");
    let program = env!("CARGO_BIN_EXE_agent-sandbox-server");
    let compiled = std::process::Command::new(program)
        .args(["compile", "--policy"])
        .arg(&path)
        .args(["-o", "-"])
        .output();
    let set = String::from_utf8(compiled.unwrap().stdout).unwrap().replace("\"**/.env\"", "\"{a/.env\"");
    let (first, body) = set.split_once('\n').unwrap();
    let (head, _) = first.split_once("\"crc32\"").unwrap();
    let forged = format!("{head}\"crc32\":\"{}\",\n{body}", policy_lang::form::checksum(body));
    std::fs::write(&path, forged).unwrap();
    let why = format!(
        "{}: the compiled policy has a bad value at `policy:endpoints.download paths.deny`: {}",
        path.display(),
        "`{a/.env` is not a valid glob: `{` is never closed"
    );
    server.signal("HUP");
    server.wait_for(&format!("the policy was not reloaded, the old one stays: error: {why}"));
    assert_eq!(get(server.port, "/download?path=a").status, 200);
    let mut refused = Setup::new().arg("--policy").arg(&path.display().to_string()).start();
    assert_eq!(refused.wait(), Some(1));
    refused.wait_for(&format!("error: {why}"));
    refused.wait_for(
        "help: a compiled set is not edited by hand: change the policy document and compile it again",
    );
}

#[test]
fn health_is_asked_by_the_command_of_that_name() {
    let server = Setup::new().start();
    let ask = |port: u16| {
        let program = env!("CARGO_BIN_EXE_agent-sandbox-server");
        let args = ["healthcheck", "--timeout", "60", "--port", &port.to_string()];
        std::process::Command::new(program).args(args).output().unwrap().status.code()
    };
    let port = server.port;
    assert_eq!(ask(port), Some(0));
    server.stop();
    let closed = ClosedPort::at(port);
    assert_eq!(ask(closed.number), Some(1));
}

#[test]
fn a_templates_own_keys_beside_server_are_its_own() {
    let policy =
        "name: x\ngroups: {web: 1}\nendpoints: {health: false}\nserver:\n  endpoints: {env_set: false}\n";
    let server = Setup::new().policy(policy).start();
    assert_eq!(request(server.port, "POST", "/env", &[], None).code(), "endpoint_disabled");
    assert_eq!(get(server.port, "/env").status, 200);
}

#[test]
fn a_template_without_server_is_no_policy_whatever_it_says_of_findings() {
    for comment in ["", "# abx: allow rule-has-no-effect no policy here\n"] {
        let refusal = Setup::new().policy(&format!("{comment}name: x\nimage: y\n")).try_start().unwrap_err();
        assert_eq!(refusal.status, 1);
        assert!(refusal.stderr.contains("holds no policy"), "{}", refusal.stderr);
    }
}
