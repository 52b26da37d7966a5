//! The public client of the data plane, as it is on PyPI, against the real server.
//!
//! Each test starts a server and runs one script of `scripts/` with it; the script holds the client to what it must see.
//! The client is a Python package: `DATAPLANE_PYTHON` names an interpreter that has it, else the one in
//! `<target>/dataplane/bin` is taken. Where there is none the tests say so and check nothing; `.ci/run` installs it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test program: what goes wrong is a failed test")]

#[path = "../http/server.rs"]
#[expect(dead_code, unreachable_pub, reason = "shared with another program, which uses all of it")]
mod server;

use server::{PATIENCE, Server, Setup};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Which way the client runs commands.
#[derive(Debug, Clone, Copy)]
enum Transport {
    WebSocket,
    Events,
}

use Transport::{Events, WebSocket};

const TOKEN: &str = "dataplane-secret";

/// A server that knows one principal, which holds the bundle of the data plane and nothing else.
fn setup(endpoints: &str) -> Setup {
    let policy = format!(
        r#"{{"auth": {{"tokens": [{{"id": "client", "token_env": "CLIENT_TOKEN", "scopes": ["sandboxes:exec"]}}]}},
            "endpoints": {{{endpoints}}}}}"#
    );
    Setup::new().policy(&policy).env("CLIENT_TOKEN", TOKEN)
}

/// The interpreter that has the client, if there is one.
fn python() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("DATAPLANE_PYTHON") {
        return Some(named.into());
    }
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let usual = target.join("dataplane/bin/python");
    if usual.exists() {
        return Some(usual);
    }
    // Past the capture of the test harness: nobody should take this for a pass.
    let _ = writeln!(
        std::io::stderr(),
        "\n!! NOT TESTED: no interpreter has the client. Install it with\n!!   python3 -m venv {0} && {0}/bin/pip install -r tests/dataplane/requirements.txt",
        target.join("dataplane").display()
    );
    None
}

fn command(python: &Path, server: &Server, script: &str, transport: Transport) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/dataplane/scripts");
    let mut command = Command::new(python);
    command.arg("-B").arg(scripts.join(script)).arg(server.port.to_string()).arg(server.base());
    command.env("DATAPLANE_TOKEN", TOKEN).env("LANGSMITH_TRACING", "false");
    match transport {
        WebSocket => command.env_remove("LANGSMITH_EXPERIMENTAL_FEATURES"),
        Events => command.env("LANGSMITH_EXPERIMENTAL_FEATURES", "sandbox_sse_exec"),
    };
    command
}

/// Runs a script; one that fails is a failed test, with everything it said. The server is given back.
fn run(setup: &Setup, script: &str, transport: Transport) -> Option<Server> {
    let python = python()?;
    let server = setup.start();
    let output = command(&python, &server, script, transport).output().unwrap();
    assert!(
        output.status.success(),
        "{script} over {transport:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(server)
}

/// The lines of the audit log about an endpoint.
fn audit(server: &Server, endpoint: &str) -> Vec<serde_json::Value> {
    let lines = server.stderr();
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["endpoint"] == endpoint).collect()
}

/// Waits for lines that may still be on their way.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn commands_over_a_socket() {
    run(&setup(""), "commands.py", WebSocket);
}

#[test]
fn commands_over_events() {
    run(&setup(""), "commands.py", Events);
}

#[test]
fn a_talk_with_a_command() {
    run(&setup(""), "interactive.py", WebSocket);
}

#[test]
fn ten_cuts_of_a_socket_lose_and_repeat_nothing() {
    run(&setup(""), "cuts.py", WebSocket);
}

#[test]
fn ten_cuts_of_events_lose_and_repeat_nothing() {
    run(&setup(""), "cuts.py", Events);
}

const SMALL_BUFFER: &str = r#""shell_stream": {"limits": {"max_output_bytes": 65536}}"#;

#[test]
fn a_small_buffer_over_a_socket() {
    run(&setup(SMALL_BUFFER), "small_buffer.py", WebSocket);
}

#[test]
fn a_small_buffer_over_events() {
    let Some(server) = run(&setup(SMALL_BUFFER), "small_buffer.py", Events) else { return };
    eventually("acknowledged more than twenty times", || {
        audit(&server, "shell_stream").iter().filter(|line| line["event"] == "call").count() > 20
    });
}

#[test]
fn a_small_buffer_survives_cuts() {
    run(&setup(SMALL_BUFFER), "cuts.py", WebSocket);
    run(&setup(SMALL_BUFFER), "cuts.py", Events);
}

#[test]
fn one_command_by_two_transports_and_twenty_starts() {
    run(&setup(""), "sharing.py", WebSocket);
}

#[test]
fn files_both_ways() {
    // The script sends as much as goes through, and then more than that.
    let most = if std::env::var_os("FULL_COUNTS").is_some() { "1GiB" } else { "48MiB" };
    let limits = format!(
        r#""files_upload_stream": {{"limits": {{"max_bytes": "{most}", "max_request_bytes": "2GiB"}}}},
            "files_download_stream": {{"limits": {{"max_bytes": "11GiB"}}}}"#
    );
    run(&setup(&limits), "files.py", WebSocket);
}

#[test]
fn many_streams_through_one_tunnel() {
    let ports = r#""tunnel_connect": {"params": {"deny_ports": [5432]}}"#;
    let Some(server) = run(&setup(ports), "tunnel.py", WebSocket) else { return };
    eventually("a tunnel that carried five megabytes", || {
        audit(&server, "tunnel_connect").iter().any(|line| line["bytes_out"].as_u64() >= Some(5_000_000))
    });
}

#[test]
fn what_a_client_must_not_send() {
    run(&setup(""), "bad_input.py", WebSocket);
}

#[test]
fn a_restart_is_announced() {
    let Some(python) = python() else { return };
    let server = setup("").start();
    let mut script = command(&python, &server, "restart.py", WebSocket);
    let mut child = script.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "attached");
    let (status, _) = server.stop();
    assert_eq!(status, Some(0));
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success(), "{rest:#?}");
}

#[test]
fn the_log_names_commands_and_never_their_secrets() {
    let Some(server) = run(&setup(""), "kept_secrets.py", WebSocket) else { return };
    let of = |event: &str| audit(&server, "shell_stream").into_iter().any(|line| line["event"] == *event);
    eventually("the end of the command and of the call", || of("end") && of("call"));
    let lines = audit(&server, "shell_stream");
    let end = lines.iter().find(|line| line["event"] == "end").unwrap();
    assert_eq!(end["sandbox"], "box");
    assert_eq!(end["identity"], "client");
    assert_eq!(end["state"], "exit");
    assert_eq!(end["exit_code"], 7);
    assert_eq!(end["stdout_bytes"], 12);
    assert_eq!(end["cwd"], server.base().display().to_string());
    assert!(end["program"].as_str().unwrap().ends_with("sh"));
    let call = lines.iter().find(|line| line["event"] == "call").unwrap();
    assert_eq!(call["command_id"], end["command_id"]);
    let log = server.stderr().join("\n");
    for secret in ["s3cret-input", "s3cret-variable", "s3cret-argument", "s3cret-outp", TOKEN] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
