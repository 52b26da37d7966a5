//! Commands through real sockets: what a client that is cut off, late or gone may rely on.

use crate::raw::{connect, get, post, read_all};
use crate::server::{PATIENCE, Server, Setup};
use base64::Engine as _;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

fn lives(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

/// Waits until it holds; false where it never does.
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

fn pid_in(file: &Path) -> String {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    assert!(soon(|| read().ends_with('\n')));
    read().trim().to_owned()
}

fn send(server: &Server, path: &str, body: &Value) -> std::net::TcpStream {
    let (mut stream, body) = (connect(server.port), body.to_string());
    let head = "Host: localhost\r\nContent-Type: application/json";
    write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

/// The whole events in a piece of a chunked answer, chunk sizes and all.
fn events(bytes: &[u8]) -> Vec<(String, Value)> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(3)
        .filter_map(|three| {
            let name = three[0].strip_prefix("event: ")?;
            // An event is whole once the blank line behind it has come.
            let data = three[1].strip_prefix("data: ").filter(|_| three[2].is_empty())?;
            Some((name.to_owned(), serde_json::from_str(data).ok()?))
        })
        .collect()
}

// runtime 3, security 139
#[test]
fn any_number_of_starts_with_one_id_run_one_command() {
    let server = Setup::new().start();
    let body = json!({
        "command": "sh -c 'echo once >> runs; sleep 0.3'", "command_id": "c", "format": "bytes",
    });
    let pids: Vec<Value> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    events(&post(server.port, "/shell/stream", &body.to_string()).body)[0].1["pid"].clone()
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(pids.iter().all(|pid| pid.is_number() && *pid == pids[0]), "{pids:?}");
    assert_eq!(std::fs::read_to_string(server.base().join("runs")).unwrap(), "once\n");
    let past = json!({"command_id": "c", "stdout_offset": 1});
    let refused = post(server.port, "/shell/stream", &past.to_string());
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
}

// runtime 1
#[test]
fn a_client_that_is_cut_off_again_and_again_gets_every_byte_once() {
    let server = Setup::new().start();
    let wanted: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
    let (mut got, mut rounds) = (Vec::new(), 0);
    let exit = loop {
        rounds += 1;
        let mut body = json!({"command_id": "c", "format": "bytes", "stdout_offset": got.len()});
        if rounds == 1 {
            body["command"] = json!("seq 1 300000");
        }
        let mut stream = send(&server, "/shell/stream", &body);
        let (mut bytes, mut piece) = (Vec::new(), [0; 16384]);
        while bytes.len() < 200_000 && !bytes.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0, "the answer is cut off");
            bytes.extend_from_slice(&piece[..read]);
        }
        let mut exit = None;
        for (name, data) in events(&bytes) {
            match name.as_str() {
                "stdout" => {
                    let offset = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
                    assert_eq!(offset, got.len(), "a gap or a repetition");
                    let text = data["data"].as_str().unwrap();
                    got.extend(base64::engine::general_purpose::STANDARD.decode(text).unwrap());
                }
                "exit" => exit = Some(data["exit_code"].clone()),
                _ => {}
            }
        }
        if let Some(exit) = exit {
            break exit;
        }
    };
    assert!(rounds > 3, "{rounds} rounds");
    assert!(got == wanted.as_bytes());
    assert_eq!(exit, json!(0));
}

// runtime 5
#[test]
fn the_answer_ends_with_its_last_event_and_the_connection_goes_on() {
    let server = Setup::new().start();
    // How long the end comes behind the last event: at its best, for a machine may pause between them.
    let behind = || {
        let mut stream = send(&server, "/shell/stream", &json!({"command": "true"}));
        let (mut bytes, mut piece, mut exit) = (Vec::new(), [0; 4096], None);
        while !bytes.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0, "the answer is cut off");
            bytes.extend_from_slice(&piece[..read]);
            if bytes.windows(11).any(|eleven| eleven == b"event: exit") {
                exit.get_or_insert_with(Instant::now);
            }
        }
        let behind = exit.unwrap().elapsed();
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        assert_eq!(read_all(&mut stream).only().status, 200);
        behind
    };
    assert!((0..50).any(|_| behind() < Duration::from_millis(50)), "the end comes late every time");
}

#[test]
fn a_client_that_goes_away_takes_its_command_with_it() {
    let server = Setup::new().start();
    for (path, file) in [("/shell", "a"), ("/shell/stream", "b")] {
        let stream = send(&server, path, &json!({"command": format!("sh -c 'echo $$ > {file}; sleep 600'")}));
        let pid = pid_in(&server.base().join(file));
        assert!(lives(&pid));
        drop(stream);
        assert!(soon(|| !lives(&pid)), "{path} left its command running");
    }
}

// security 133
#[test]
fn a_server_that_stops_leaves_nothing_running() {
    let server = Setup::new().start();
    let script = "sh -c '(setsid sh -c \"echo \\$\\$ > a; exec sleep 600\" &); echo $$ > b; exec sleep 600'";
    assert_eq!(post(server.port, "/process/start", &json!({"command": script}).to_string()).status, 200);
    let orphan = "sh -c '(setsid sh -c \"echo \\$\\$ > c; exec sleep 600\" > /dev/null 2>&1 &)'";
    assert_eq!(post(server.port, "/shell", &json!({"command": orphan}).to_string()).status, 200);
    let pids = ["a", "b", "c"].map(|file| pid_in(&server.base().join(file)));
    assert!(pids.iter().all(|pid| lives(pid)));
    let states: Vec<Value> =
        get(server.port, "/process/list").json()["processes"].as_array().unwrap().clone();
    let state =
        |pid: &str| states.iter().find(|p| p["pid"].as_u64() == pid.parse().ok()).map(|p| p["state"].clone());
    assert_eq!(
        (state(&pids[1]), state(&pids[2])),
        (Some(json!("running")), Some(json!("orphan"))),
        "{states:?}"
    );
    let (status, _) = server.stop();
    assert_eq!(status, Some(0));
    assert!(soon(|| pids.iter().all(|pid| !lives(pid))));
}

#[test]
fn a_process_exists_for_its_owner_alone() {
    let hash = |text: &str| -> String {
        use sha2::Digest as _;
        sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let scopes = json!(["process:run", "process:manage"]);
    let terminal = json!(["terminal:use", "process:run"]);
    let tokens = json!([
        {"id": "one", "token_sha256": hash("one-secret"), "scopes": scopes},
        {"id": "two", "token_sha256": hash("two-secret"), "scopes": scopes},
        {"id": "all", "token_sha256": hash("all-secret"), "scopes": ["*"]},
        {"id": "term", "token_sha256": hash("term-secret"), "scopes": terminal},
        {"id": "other", "token_sha256": hash("other-secret"), "scopes": terminal},
    ]);
    let server = Setup::new().policy(&json!({"auth": {"tokens": tokens}}).to_string()).start();
    let ask = |token: &str, method: &str, path: &str, body: Option<Value>| {
        let headers = [("X-Access-Token", token), ("Content-Type", "application/json")];
        let body = body.map(|body| body.to_string());
        crate::raw::request(server.port, method, path, &headers, body.as_deref().map(str::as_bytes))
    };
    let started = ask("one-secret", "POST", "/process/start", Some(json!({"command": "sleep 60"}))).json();
    let path = format!("/process/{}", started["pid"]);
    for (token, status) in [("one-secret", 200), ("two-secret", 404), ("all-secret", 200)] {
        assert_eq!(ask(token, "GET", &path, None).status, status, "{token}");
        let listed = ask(token, "GET", "/process/list", None).json()["processes"].as_array().unwrap().len();
        assert_eq!(listed, usize::from(status == 200), "{token}");
    }
    let signal = format!("{path}/signal");
    assert_eq!(ask("two-secret", "POST", &signal, Some(json!({"signal": "KILL"}))).status, 404);
    assert_eq!(ask("one-secret", "POST", &signal, Some(json!({"signal": "SIGKILL"}))).status, 200);
    let ended = ask("one-secret", "GET", &format!("{path}?wait=60"), None).json();
    assert_eq!((&ended["state"], &ended["signal"]), (&json!("exited"), &json!(9)));

    // So does a command by its id, and a terminal. Who may see all does not have to guess which of two is meant.
    let resume = json!({"command_id": "c", "format": "bytes"});
    let start = |word: &str| {
        let mut body = resume.clone();
        body["command"] = json!(format!("echo {word}"));
        body
    };
    let pid = |token: &str, body: Value| {
        let answer = ask(token, "POST", "/shell/stream", Some(body));
        if answer.status == 200 { events(&answer.body)[0].1["pid"].clone() } else { json!(answer.code()) }
    };
    let one = pid("one-secret", start("one"));
    assert_eq!(pid("two-secret", resume.clone()), "not_found");
    assert_eq!(
        [pid("one-secret", resume.clone()), pid("all-secret", resume.clone())],
        [one.clone(), one.clone()]
    );
    let two = pid("two-secret", start("two"));
    assert_ne!(two, one);
    assert_eq!([pid("two-secret", resume.clone()), pid("one-secret", resume.clone())], [two, one]);
    assert_eq!(pid("all-secret", resume.clone()), "not_found");
    let session = ask("term-secret", "POST", "/pty/sessions", Some(json!({"shell": "/bin/sh"}))).json();
    let path = format!("/pty/sessions/{}", session["session_id"].as_str().unwrap());
    for (token, status) in [("term-secret", 200), ("other-secret", 404), ("all-secret", 200)] {
        assert_eq!(ask(token, "GET", &path, None).status, status, "{token}");
    }
    assert_eq!(ask("other-secret", "DELETE", &path, None).status, 404);
}
