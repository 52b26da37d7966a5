//! The moment between the first answer and the last directory of the policy: who may ask what, and how it ends.
//!
//! A server built for tests prepares its policy only when the file that `ABX_TEST_HOLD` names is gone, and fails where that says
//! `fail`.

use crate::raw::{Answer, connect, get, post, read_all};
use crate::server::{Server, Setup};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls that wait: more than there are threads to answer them.
const WAITING: usize = 12;

/// A server whose policy is not prepared before [`go_on`].
fn held() -> Server {
    Setup::new().file("hold", "").file("a", "text").env("ABX_TEST_HOLD", "{base}/hold").start()
}

fn go_on(server: &Server) {
    std::fs::remove_file(server.base().join("hold")).unwrap();
}

fn fail(server: &Server) {
    // As a whole: nobody may see half of it.
    let next = server.base().join("next");
    std::fs::write(&next, "fail").unwrap();
    std::fs::rename(next, server.base().join("hold")).unwrap();
}

/// Calls under way that need what is not prepared yet.
fn waiting(server: &Server) -> Vec<TcpStream> {
    let ask = |target: &str, body: &str| {
        let mut stream = connect(server.port);
        let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let length = body.len();
        stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
        stream
    };
    let check = json!({"endpoint": "download", "path": "a"}).to_string();
    let shells = (1..WAITING).map(|_| ask("/shell", r#"{"command":"touch ran"}"#));
    shells.chain([ask("/capabilities/check", &check)]).collect()
}

fn answers(waiting: Vec<TcpStream>) -> Vec<Answer> {
    waiting.into_iter().map(|mut stream| read_all(&mut stream).only().clone()).collect()
}

/// That nobody who waits keeps the others from being answered.
fn others_are_answered(server: &Server) {
    for _ in 0..3 {
        assert_eq!(get(server.port, "/health").status, 200);
        assert_eq!(get(server.port, "/capabilities").status, 200);
        assert_eq!(post(server.port, "/capabilities/check", r#"{"endpoint":"download"}"#).status, 200);
        assert_eq!(get(server.port, "/no/such/door").status, 404);
    }
    assert!(!server.base().join("ran").exists());
}

#[test]
fn calls_wait_and_keep_nobody_from_an_answer() {
    let server = held();
    let waiting = waiting(&server);
    others_are_answered(&server);
    go_on(&server);
    for answer in answers(waiting) {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(server.audit_of(answer.id())["decision"], "allow");
    }
    assert!(server.base().join("ran").exists());
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_stop_is_obeyed_before_the_policy_is_prepared() {
    for signal in ["TERM", "INT"] {
        let mut server = held();
        let waiting = waiting(&server);
        others_are_answered(&server);
        server.signal(signal);
        for answer in answers(waiting) {
            assert_eq!((answer.status, answer.code().as_str()), (503, "draining"), "{answer:?}");
            assert_eq!(server.audit_of(answer.id())["status"], 503);
        }
        assert_eq!(server.wait(), Some(0));
        assert!(!server.base().join("ran").exists());
    }
}

#[test]
fn a_reload_that_is_asked_for_meanwhile_is_not_lost() {
    let server = held();
    server.signal("HUP");
    others_are_answered(&server);
    assert_eq!(server.stderr().iter().filter(|line| line.contains("reloaded")).count(), 0);
    go_on(&server);
    server.wait_for("policy reloaded");
    assert_eq!(get(server.port, "/download?path=a").status, 200);
}

#[test]
fn a_policy_that_cannot_be_prepared_ends_the_server_and_leaves_no_call_without_an_answer() {
    let mut server = held();
    let waiting = waiting(&server);
    others_are_answered(&server);
    fail(&server);
    for answer in answers(waiting) {
        assert_eq!((answer.status, answer.code().as_str()), (503, "draining"), "{answer:?}");
        assert_eq!(server.audit_of(answer.id())["status"], 503);
    }
    assert_eq!(server.wait(), Some(1));
    server.wait_for("error: cannot open the directories that the policy names: held up by a test");
}

#[test]
fn a_flood_of_connections_does_not_end_the_start() {
    let server = held();
    let limit = ["--pid", &server.pid().to_string(), "--nofile=64:64"];
    assert!(std::process::Command::new("prlimit").args(limit).status().unwrap().success());
    let _at_start: Vec<_> = (0..200).map(|_| connect(server.port)).collect();
    others_are_answered(&server);
    go_on(&server);
    assert_eq!(get(server.port, "/download?path=a").status, 200);
    // From now on as many are let in as there are descriptors for.
    let _later: Vec<_> = (0..64).map(|_| connect(server.port)).collect();
    server.wait_for("accepting connections pauses");
}

#[test]
fn a_burst_of_calls_during_the_start_loses_none() {
    let server = held();
    let ask = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut burst: Vec<_> = (0..200).map(|_| connect(server.port)).collect();
    for stream in &mut burst {
        stream.write_all(ask).unwrap();
    }
    for mut stream in burst {
        assert_eq!(read_all(&mut stream).only().status, 200);
    }
    go_on(&server);
    assert_eq!(get(server.port, "/download?path=a").status, 200);
}

/// A compiled set, by which only `a` may be downloaded.
fn set(dir: &Path) -> PathBuf {
    let (document, set) = (dir.join("policy.json"), dir.join("set.json"));
    std::fs::write(&document, r#"{"endpoints":{"download":{"paths":{"allow":["a"]}}}}"#).unwrap();
    let mut compile = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    compile.args(["compile", "--policy"]).arg(document).arg("-o").arg(&set);
    assert!(compile.output().unwrap().status.success());
    set
}

/// A server with that set, which has read its head alone.
fn held_with(set: &Path) -> Server {
    let setup = Setup::new().file("hold", "").file("a", "text").file("b", "text");
    setup.env("ABX_TEST_HOLD", "{base}/hold").arg("--policy").arg(&set.display().to_string()).start()
}

#[test]
fn the_end_of_a_set_is_that_of_the_file_which_the_start_has_read() {
    let dir = tempfile::tempdir().unwrap();
    let set = set(dir.path());
    let server = held_with(&set);
    std::fs::write(dir.path().join("next"), "{}").unwrap();
    std::fs::rename(dir.path().join("next"), &set).unwrap();
    go_on(&server);
    assert_eq!(get(server.port, "/download?path=a").status, 200);
    assert_eq!(get(server.port, "/download?path=b").code(), "path_not_allowed");
}

#[test]
fn a_set_that_is_changed_during_the_start_ends_it_and_is_asked_nothing() {
    for (change, why) in [
        ("", "it has been changed meanwhile"),
        ("x", "it has been changed meanwhile"),
        ("\n", "the compiled policy was changed after it was written: its checksum does not match"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let set = set(dir.path());
        let mut server = held_with(&set);
        let text = std::fs::read_to_string(&set).unwrap();
        let changed = match change {
            "" => String::new(),
            "\n" => text.replace("\"a\"", "\"b\""),
            more => format!("{text}{more}"),
        };
        // In place: the server has the file open.
        std::fs::write(&set, changed).unwrap();
        let waiting = waiting(&server);
        assert_eq!(get(server.port, "/health").status, 200);
        go_on(&server);
        for answer in answers(waiting) {
            assert_eq!((answer.status, answer.code().as_str()), (503, "draining"), "{answer:?}");
        }
        assert_eq!(server.wait(), Some(1));
        server.wait_for(why);
        assert!(!server.base().join("ran").exists());
    }
}

#[test]
fn directories_that_cannot_be_opened_end_the_server() {
    let dirs: Vec<String> = (0..100).map(|number| format!("dir-{number}")).collect();
    let allow: Vec<String> = dirs.iter().map(|dir| format!("{{base}}/{dir}/**")).collect();
    let policy = json!({"endpoints": {"download": {"paths": {"allow": allow}}}}).to_string();
    let setup =
        dirs.iter().fold(Setup::new().policy(&policy), |setup, dir| setup.file(&format!("{dir}/a"), ""));
    let mut server = setup.under(&["prlimit", "--nofile=60"]).start();
    assert_eq!(server.wait(), Some(1));
    server.wait_for(
        "error: cannot open the directories that the policy names: Too many open files (os error 24)",
    );
}
