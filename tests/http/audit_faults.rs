//! The audit log when its disk is full, read-only or limited, when the reader of its pipe is gone or stuck, and when the
//! server is killed: what cannot be written does not happen, and no line is torn.

use crate::mount::Mount;
use crate::raw::{Answer, get, post, request};
use crate::server::{PATIENCE, Server, Setup, full};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Calls that change something, each of which would be seen afterwards.
const CHANGES: &[(&str, &str, &str)] = &[
    ("POST", "/files/mkdir", r#"{"path":"made"}"#),
    ("POST", "/files/move", r#"{"source":"a","destination":"made"}"#),
    ("DELETE", "/files?path=a", ""),
    ("POST", "/shell", r#"{"command":"touch made"}"#),
    ("POST", "/shell/stream", r#"{"command":"touch made"}"#),
    ("POST", "/process/start", r#"{"command":"touch made"}"#),
    ("POST", "/code/run", r#"{"language":"bash","code":"touch made"}"#),
    ("POST", "/pty/sessions", r#"{"shell":"/bin/sh"}"#),
    ("POST", "/env", r#"{"vars":{"MADE":"1"}}"#),
    ("POST", "/upload", r#"{"path":"made","content_base64":"YQ=="}"#),
    ("POST", "/files/upload-stream", r#"{"path":"made","content_base64":"YQ=="}"#),
];

fn setup(log: &Path) -> Setup {
    Setup::new()
        .file("a", "inside")
        .policy(r#"{"base_dir":"{base}","endpoints":{"group:dev_tools":true}}"#)
        .env("ABX_AUDIT_FILE", &log.display().to_string())
}

fn change(server: &Server, (method, target, body): (&str, &str, &str)) -> Answer {
    let body = (!body.is_empty()).then_some(body.as_bytes());
    request(server.port, method, target, &[("Content-Type", "application/json")], body)
}

/// Every change is refused and none has happened; what only looks is answered.
fn nothing_changes(server: &Server) {
    for call in CHANGES {
        let answer = change(server, *call);
        assert_eq!(answer.status, 503, "{call:?}: {}", answer.json());
        let right = json!({"error": "The audit log cannot be written, so nothing was changed",
            "type": "RuntimeError", "code": "audit_unavailable"});
        assert_eq!(answer.json(), right, "{call:?}");
    }
    assert_eq!(get(server.port, "/health").status, 200);
    assert_eq!(get(server.port, "/files/stat?path=a").status, 200);
    assert!(!server.base().join("made").exists());
    assert_eq!(fs::read_to_string(server.base().join("a")).unwrap(), "inside");
    assert_eq!(get(server.port, "/process/list").json()["processes"], json!([]));
    assert_eq!(get(server.port, "/pty/sessions").json()["sessions"], json!([]));
    assert_eq!(get(server.port, "/env").json()["env"]["MADE"], Value::Null);
}

/// Every line is whole; the last ends. Blanks at the end are room before a line that never came.
fn whole_lines(text: &str) -> Vec<Value> {
    let text = text.trim_end_matches(' ');
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn: {:?}", text.lines().last());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("torn: {line:?}: {error}")))
        .collect()
}

fn mkdir(server: &Server, name: &str) -> u16 {
    post(server.port, "/files/mkdir", &json!({"path": name}).to_string()).status
}

#[test]
fn row_157_the_disk_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_mount) = Mount::tmpfs("64k", dir.path()) else { return };
    let log = dir.path().join("audit.jsonl");
    let server = setup(&log).start();
    assert_eq!(mkdir(&server, "before"), 200);
    let filler = dir.path().join("filler");
    // Until not a byte is left, so that the last page of the log is what fills up next.
    let _ = fs::write(&filler, vec![0; 1 << 20]);
    // The page that the log ends in has room left.
    let mut names = 0;
    while mkdir(&server, &format!("fill{names}")) == 200 {
        names += 1;
        assert!(names < 100, "a page has no room for so many lines");
    }
    nothing_changes(&server);
    whole_lines(&fs::read_to_string(&log).unwrap());
    fs::remove_file(&filler).unwrap();
    assert_eq!(mkdir(&server, "after"), 200);
    server.stop();
    let lines = whole_lines(&fs::read_to_string(&log).unwrap());
    // The refusals that had to wait are there as well.
    let refused: u64 = (lines.iter().filter(|line| line["code"] == "audit_unavailable"))
        .map(|line| line["count"].as_u64().unwrap_or(1))
        .sum();
    assert!(refused >= CHANGES.len() as u64, "{refused}");
    let dropped = lines.iter().filter(|line| line["event"] == "dropped").count();
    assert_eq!(dropped, 0, "the queue had room for all of it");
}

#[test]
fn row_157_the_disk_is_read_only() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(mount) = Mount::same(dir.path()) else { return };
    let log = dir.path().join("audit.jsonl");
    // A disk with a file that is being written is not made read-only.
    std::os::unix::fs::symlink(elsewhere.path().join("audit.jsonl"), &log).unwrap();
    let server = setup(&log).start();
    // The log is rotated away, and no new one can be made.
    fs::rename(&log, dir.path().join("audit.1")).unwrap();
    mount.make("ro");
    nothing_changes(&server);
    mount.make("rw");
    assert_eq!(mkdir(&server, "after"), 200);
    server.stop();
    whole_lines(&fs::read_to_string(&log).unwrap());
}

#[test]
fn row_157_a_write_is_short() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit.jsonl");
    let server = setup(&log).start();
    assert_eq!(mkdir(&server, "before"), 200);
    // The next line fits by half.
    let limit = |bytes: &str| {
        let pid = server.pid().to_string();
        let args = ["--pid", &pid, &format!("--fsize={bytes}:unlimited")];
        Command::new("prlimit").args(args).status().is_ok_and(|status| status.success())
    };
    let size = fs::metadata(&log).unwrap().len();
    if !limit(&(size + 100).to_string()) {
        eprintln!("skipped: no file size can be limited here");
        return;
    }
    nothing_changes(&server);
    whole_lines(&fs::read_to_string(&log).unwrap());
    assert!(limit("unlimited"));
    assert_eq!(mkdir(&server, "after"), 200);
    server.stop();
    whole_lines(&fs::read_to_string(&log).unwrap());
}

fn reader(pipe: &Path) -> fs::File {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(pipe).unwrap()
}

fn pipe(dir: &Path) -> std::path::PathBuf {
    let pipe = dir.join("audit.pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

#[test]
fn row_157_nobody_reads_the_pipe_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = pipe(dir.path());
    let refused = setup(&pipe).try_start().unwrap_err();
    assert_eq!(refused.status, 1, "a pipe without a reader is no log: {}", refused.stderr);
    let read = reader(&pipe);
    let server = setup(&pipe).start();
    assert_eq!(mkdir(&server, "before"), 200);
    drop(read);
    nothing_changes(&server);
    let _read = reader(&pipe);
    assert_eq!(mkdir(&server, "after"), 200);
}

#[test]
fn row_157_the_reader_of_the_pipe_is_stuck() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = pipe(dir.path());
    let mut read = reader(&pipe);
    rustix::pipe::fcntl_setpipe_size(&read, 4096).unwrap();
    let server = setup(&pipe).start();
    let mut names = 0;
    while mkdir(&server, &format!("fill{names}")) == 200 {
        names += 1;
        assert!(names < 100, "the pipe never fills up");
    }
    nothing_changes(&server);
    let mut text = String::new();
    let until = Instant::now() + PATIENCE;
    // The reader wakes up: what waited comes, and changes are let in again.
    while mkdir(&server, "after") == 503 {
        drain(&mut read, &mut text);
        assert!(Instant::now() < until);
    }
    drain(&mut read, &mut text);
    whole_lines(&text);
    assert!(server.base().join("after").exists());
}

fn drain(read: &mut fs::File, text: &mut String) {
    let mut piece = [0; 65536];
    while let Ok(length @ 1..) = read.read(&mut piece) {
        text.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
}

#[test]
fn row_160_killed_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit.jsonl");
    let rounds = if full() { 100 } else { 8 };
    let mut answered = HashSet::new();
    let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
    for round in 0..rounds {
        // One log over all of it: what a killed server left must not spoil the lines of the next.
        let server = setup(&log).start();
        let port = server.port;
        let answers = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let answers = Arc::clone(&answers);
                std::thread::spawn(move || {
                    let mut done = Vec::new();
                    for turn in 0.. {
                        let name = format!("d-{round}-{client}-{turn}");
                        let body = json!({"path": name}).to_string();
                        let bytes = format!(
                            "POST /files/mkdir HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", port)) else { break };
                        let mut answer = Vec::new();
                        if std::io::Write::write_all(&mut stream, bytes.as_bytes()).is_err()
                            || stream.read_to_end(&mut answer).is_err()
                            || !answer.starts_with(b"HTTP/1.1 200")
                        {
                            break;
                        }
                        done.push(name);
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                    done
                })
            })
            .collect();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Half of the kills may come before the first answer; the others need some, however slow the machine is.
        let until = Instant::now() + PATIENCE;
        while round % 2 == 1 && answers.load(Ordering::Relaxed) < 4 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20 + (seed >> 33) % 150));
        server.signal("KILL");
        for client in clients {
            answered.extend(client.join().unwrap());
        }
        drop(server);
        whole_lines(&fs::read_to_string(&log).unwrap());
    }
    let lines = whole_lines(&fs::read_to_string(&log).unwrap());
    let logged = |event: &str| -> HashSet<&str> {
        lines.iter().filter(|line| line["event"] == event).filter_map(|line| line["path"].as_str()).collect()
    };
    let (intents, outcomes) = (logged("intent"), logged("call"));
    assert!(answered.len() > rounds, "{}", answered.len());
    for name in &answered {
        assert!(intents.contains(name.as_str()) && outcomes.contains(name.as_str()), "{name} is missing");
    }
    eprintln!(
        "{rounds} kills, {} answered changes, {} lines, none missing, none torn",
        answered.len(),
        lines.len()
    );
}

#[test]
fn row_161_no_endpoint_reaches_the_log() {
    let server = Setup::new().env("ABX_AUDIT_FILE", "{base}/audit.jsonl").start();
    let path = server.base().join("audit.jsonl").display().to_string();
    let before = fs::metadata(&path).unwrap().len();
    for named in [path.as_str(), "audit.jsonl", "./audit.jsonl"] {
        for target in ["/files/stat", "/download", "/files/download-stream"] {
            assert_eq!(get(server.port, &format!("{target}?path={named}")).status, 403, "{target} {named}");
        }
        for (target, body) in [
            ("/upload", json!({"path": named, "content_base64": "YQ=="})),
            ("/files/upload-stream", json!({"path": named, "content_base64": "YQ=="})),
            ("/files/move", json!({"source": named, "destination": "taken"})),
            ("/files/mkdir", json!({"path": named})),
        ] {
            assert_eq!(post(server.port, target, &body.to_string()).status, 403, "{target} {named}");
        }
        let gone = request(server.port, "DELETE", &format!("/files?path={named}"), &[], None);
        assert!(gone.status == 403 || gone.status == 400, "{}", gone.status);
    }
    assert!(fs::metadata(&path).unwrap().len() >= before);
    let packed = post(server.port, "/files/archive", r#"{"paths":["."],"format":"zip"}"#);
    assert_eq!(packed.json()["entries"], 0, "{}", packed.json());
    let found = post(server.port, "/files/grep", r#"{"pattern":"request_id"}"#);
    assert_eq!(found.json()["matches"], json!([]));
}
