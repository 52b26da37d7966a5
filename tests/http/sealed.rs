//! The audit file and the state directory after a child has renamed what they lie in, or given them a second name: every
//! door answers as it does for the name that the server was started with, and the log goes on.

use crate::client::Client;
use crate::path_table;
use crate::raw::{Answer, get};
use crate::server::{PATIENCE, Server, Setup};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is asked: method, target, body.
type Ask = (&'static str, String, Option<Value>);

/// A server with `openat2`, or one whose kernel refuses it.
fn start(fault: Option<i32>) -> Server {
    let setup = Setup::new()
        .policy(r#"{"groups":{"dev_tools":true}}"#)
        .env("ABX_AUDIT_FILE", "{base}/logs/audit.jsonl")
        .env("ABX_STATE_DIR", "{base}/keep")
        .file("logs/note.txt", "a note")
        .file("keep/agents/kept.txt", "a secret")
        .file("mine.txt", "mine")
        .link("link", "logs/audit.jsonl");
    path_table::start(setup, fault)
}

const FAULTS: [Option<i32>; 2] = [None, Some(libc::ENOSYS)];

/// Every door, for a directory that the audit file lies in as `audit.jsonl`, and a link to that.
fn log_asks(dir: &str) -> Vec<Ask> {
    let log = format!("{dir}/audit.jsonl");
    let mut asks = Vec::new();
    let names = [log.clone(), format!("{log}/"), format!("{log}/below"), "link".to_owned()];
    for name in &names {
        asks.extend(
            ["/download", "/files/download-stream", "/v2/sandboxes/box/download"]
                .map(|door| get_of(door, name)),
        );
        asks.push(post("/files/archive", json!({ "paths": [name] })));
        asks.push(get_of("/files/list", name));
        asks.push(post("/upload", json!({ "path": name, "content_base64": "bmV3" })));
        asks.push(post("/files/upload-stream", json!({ "path": name, "content_base64": "bmV3" })));
        asks.push(post("/files/mkdir", json!({ "path": name })));
    }
    asks.extend([
        get_of("/files/stat", &log),
        post("/upload", json!({ "path": log, "content_base64": "bmV3", "overwrite": false })),
        ("DELETE", format!("/files?path={log}"), None),
        post("/files/move", json!({ "source": log, "destination": "taken" })),
        post("/files/move", json!({ "source": "mine.txt", "destination": log, "overwrite": true })),
        post("/files/move", json!({ "source": "mine.txt", "destination": log })),
        get_of("/files/list", dir),
        ("GET", "/files/list?path=.&recursive=true".to_owned(), None),
        post("/files/archive", json!({ "paths": [dir] })),
        post("/files/archive", json!({ "paths": [dir], "format": "zip" })),
        post("/files/archive", json!({ "paths": [dir, log] })),
        ("DELETE", format!("/files?path={dir}"), None),
        post("/shell", json!({ "command": "true", "cwd": log })),
    ]);
    for (search, grep) in
        [("/files/search", "/files/grep"), ("/v2/sandboxes/box/glob", "/v2/sandboxes/box/grep")]
    {
        for path in [dir, ".", log.as_str()] {
            asks.push(post(search, json!({ "path": path, "pattern": "*.jsonl" })));
            asks.push(post(grep, json!({ "path": path, "pattern": "request_id" })));
        }
        asks.push(post(search, json!({ "path": dir, "pattern": "*" })));
    }
    asks
}

/// What a directory with the audit file is refused only because that lies in it by its own name.
fn moves_of(dir: &str) -> Vec<Ask> {
    vec![
        post("/files/move", json!({ "source": dir, "destination": "taken" })),
        post("/files/move", json!({ "source": dir, "destination": "taken", "overwrite": true })),
    ]
}

/// Every door, for the state directory.
fn state_asks(dir: &str) -> Vec<Ask> {
    let mut asks = vec![
        get_of("/files/list", dir),
        get_of("/files/stat", dir),
        get_of("/download", dir),
        post("/files/search", json!({ "path": dir, "pattern": "*" })),
        post("/files/search", json!({ "path": ".", "pattern": "*.txt" })),
        post("/files/grep", json!({ "path": dir, "pattern": "secret" })),
        post("/files/grep", json!({ "path": ".", "pattern": "secret" })),
        post("/files/archive", json!({ "paths": [dir] })),
        post("/files/archive", json!({ "paths": ["."] })),
        post("/files/mkdir", json!({ "path": dir })),
        post("/files/mkdir", json!({ "path": format!("{dir}/new") })),
        post("/files/mkdir", json!({ "path": format!("{dir}/new/below") })),
        post("/upload", json!({ "path": format!("{dir}/new"), "content_base64": "bmV3" })),
        post("/files/move", json!({ "source": dir, "destination": "taken" })),
        post("/files/move", json!({ "source": "mine.txt", "destination": format!("{dir}/new") })),
        ("DELETE", format!("/files?path={dir}"), None),
        get_of("/git/status", dir),
        post("/shell", json!({ "command": "true", "cwd": dir })),
        post("/shell/stream", json!({ "command": "true", "cwd": dir })),
        post("/process/start", json!({ "command": "true", "cwd": dir })),
        post("/pty/sessions", json!({ "shell": "/bin/sh", "cwd": dir })),
        post("/code/run", json!({ "language": "bash", "code": ":", "cwd": dir })),
        post("/v2/sandboxes/box/execute", json!({ "command": ["true"], "cwd": dir })),
    ];
    let kept = format!("{dir}/agents/kept.txt");
    asks.extend([
        get_of("/download", &kept),
        get_of("/files/stat", &kept),
        get_of("/files/list", &format!("{dir}/agents")),
        post("/upload", json!({ "path": kept, "content_base64": "bmV3" })),
        post("/files/archive", json!({ "paths": [kept] })),
        post("/files/move", json!({ "source": kept, "destination": "taken" })),
        post("/shell", json!({ "command": "true", "cwd": format!("{dir}/agents") })),
        ("DELETE", format!("/files?path={kept}"), None),
    ]);
    asks
}

fn get_of(door: &str, path: &str) -> Ask {
    ("GET", format!("{door}?path={path}"), None)
}

fn post(door: &str, body: Value) -> Ask {
    ("POST", door.to_owned(), Some(body))
}

/// What a door answered, and what the log says of it, in the names of the start.
#[derive(Debug, PartialEq)]
struct Told {
    what: String,
    status: u16,
    answer: Value,
    lines: Vec<Value>,
}

/// Asks all of it; `renamed` are the names now and at the start.
fn tell(server: &Server, log: &Path, asks: &[Ask], renamed: &[(&str, &str)]) -> Vec<Told> {
    let mut client = Client::new(server.port);
    let answers: Vec<(String, Answer)> = asks
        .iter()
        .map(|(method, target, body)| {
            let body = body.as_ref().map(Value::to_string);
            let what = format!("{method} {target} {}", body.as_deref().unwrap_or_default());
            (what, client.ask(method, target, None, body.as_deref()))
        })
        .collect();
    let ids: Vec<&str> = answers.iter().map(|(_, answer)| answer.id()).collect();
    let mut lines = lines_of(log, &ids);
    let tell = |(what, answer): &(String, Answer)| Told {
        what: at_start(what, renamed),
        status: answer.status,
        answer: plain(&content_of(answer), renamed),
        lines: lines
            .remove(answer.id())
            .unwrap_or_default()
            .iter()
            .map(|line| plain(line, renamed))
            .collect(),
    };
    answers.iter().map(tell).collect()
}

/// The lines of each request, once all of them say how it ended.
fn lines_of(log: &Path, ids: &[&str]) -> BTreeMap<String, Vec<Value>> {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(log).unwrap();
        let mut lines: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for mut line in whole.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let id = line["request_id"].as_str().unwrap_or_default().to_owned();
            for varies in ["time", "request_id", "duration_us", "duration_ms", "bytes_in", "bytes_out"] {
                line.as_object_mut().unwrap().remove(varies);
            }
            lines.entry(id).or_default().push(line);
        }
        let is_done = |lines: &Vec<Value>| lines.iter().any(|line| line["event"] == "call");
        if ids.iter().all(|id| lines.get(*id).is_some_and(is_done)) {
            return lines;
        }
        assert!(Instant::now() < until, "lines are missing: {lines:#?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What an answer says; of an archive, what it holds.
fn content_of(answer: &Answer) -> Value {
    let mut said = answer.json();
    if said == Value::Null {
        return json!(String::from_utf8_lossy(&answer.body));
    }
    let Some(content) = said["content_base64"].as_str() else { return said };
    let content = STANDARD.decode(content).unwrap();
    let mut members = Vec::new();
    if content.starts_with(&[0x1f, 0x8b]) {
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&content[..]));
        for member in tar.entries().unwrap() {
            let mut member = member.unwrap();
            let mut text = String::new();
            member.read_to_string(&mut text).unwrap();
            members.push(json!([member.path().unwrap(), text]));
        }
    } else if content.starts_with(b"PK") {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&content)).unwrap();
        for at in 0..zip.len() {
            let member = zip.by_index(at).unwrap();
            members.push(json!(member.name().unwrap()));
        }
    }
    if members.is_empty() {
        return said;
    }
    said["content_base64"] = json!(members);
    for varies in ["size", "sha256", "bytes"] {
        said.as_object_mut().unwrap().remove(varies);
    }
    said
}

/// A value in the names of the start, lists in an order that does not depend on names.
fn plain(value: &Value, renamed: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => json!(at_start(text, renamed)),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| plain(item, renamed)).collect();
            items.sort_by_key(Value::to_string);
            json!(items)
        }
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "error_id")
            .map(|(name, member)| (name.clone(), plain(member, renamed)))
            .collect(),
        other => other.clone(),
    }
}

fn at_start(text: &str, renamed: &[(&str, &str)]) -> String {
    renamed.iter().fold(text.to_owned(), |text, (now, start)| text.replace(now, start))
}

/// What a child does.
fn child(server: &Server, script: &str) {
    let body = json!({ "command": format!("sh -c '{script}'") }).to_string();
    let done = Client::new(server.port).ask("POST", "/shell", None, Some(&body));
    assert_eq!((done.status, &done.json()["exit_code"]), (200, &json!(0)), "{script}: {}", done.json());
}

/// Every answer must be the one of the start; all that differ are shown.
fn assert_same(found: &[Told], right: &[Told]) {
    assert_eq!(found.len(), right.len());
    let wrong: Vec<_> = found.iter().zip(right).filter(|(found, right)| found != right).collect();
    assert!(wrong.is_empty(), "{} of {} answers differ: {wrong:#?}", wrong.len(), found.len());
}

/// None of the answers may hold a line of the log.
fn assert_refused(told: &[Told]) {
    for told in told {
        let refused = told.status == 403 && told.answer["code"] == "path_denied";
        // Walks leave it out; what asks for another kind of thing beside it has an answer of its own.
        let left_out = told.status == 200 && !told.answer.to_string().contains("request_id");
        assert!(refused || left_out || told.status == 501 || told.status == 404, "{told:#?}");
    }
}

#[test]
fn the_audit_file_stays_sealed_when_its_directory_is_renamed() {
    for server in FAULTS.map(start) {
        let base = server.base();
        let (log, moved) = (base.join("logs/audit.jsonl"), base.join("gone/audit.jsonl"));
        let inode = std::fs::metadata(&log).unwrap().ino();
        let asks = |dir| [log_asks(dir), moves_of(dir)].concat();
        let right = tell(&server, &log, &asks("logs"), &[]);
        assert_refused(&right);
        child(&server, "mv logs gone && ln -sfn gone/audit.jsonl link");
        assert_same(&tell(&server, &moved, &asks("gone"), &[("gone", "logs")]), &right);
        // A directory of the old name is another one, and no log is begun in it.
        child(&server, "mkdir logs && cp -p gone/note.txt logs");
        assert_eq!(get(server.port, "/download?path=logs/note.txt").status, 200);
        assert!(!log.exists());
        assert_eq!(std::fs::metadata(&moved).unwrap().ino(), inode);
    }
}

#[test]
fn a_second_name_of_the_audit_file_is_sealed_as_well() {
    for server in FAULTS.map(start) {
        let log = server.base().join("logs/audit.jsonl");
        let right = tell(&server, &log, &log_asks("logs"), &[]);
        child(
            &server,
            "mkdir pair && cp -p logs/note.txt pair && ln logs/audit.jsonl pair && ln -sfn pair/audit.jsonl link",
        );
        let mut found = tell(&server, &log, &log_asks("pair"), &[("pair", "logs")]);
        let mut right = right;
        // Both directories are there now.
        for told in [&mut found, &mut right] {
            told.retain(|told| !told.what.contains("recursive=true"));
        }
        assert_same(&found, &right);
    }
}

#[test]
fn the_state_directory_stays_sealed_when_it_is_renamed() {
    for server in FAULTS.map(start) {
        let log = server.base().join("logs/audit.jsonl");
        let right = tell(&server, &log, &state_asks("keep"), &[]);
        assert_refused(&right);
        child(&server, "mv keep lost");
        assert_same(&tell(&server, &log, &state_asks("lost"), &[("lost", "keep")]), &right);
        assert_eq!(std::fs::read_to_string(server.base().join("lost/agents/kept.txt")).unwrap(), "a secret");
    }
}

#[test]
fn the_file_in_which_the_log_goes_on_is_sealed_in_its_turn() {
    for server in FAULTS.map(start) {
        let base = server.base();
        let (log, moved) = (base.join("logs/audit.jsonl"), base.join("gone/audit.jsonl"));
        let right = tell(&server, &log, &log_asks("logs"), &[]);
        child(&server, "mv logs gone && ln -sfn gone/audit.jsonl link");
        std::fs::rename(&moved, base.join("gone/audit.1")).unwrap();
        child(&server, "true");
        assert!(moved.exists(), "the log goes on where it was");
        std::fs::remove_file(base.join("gone/audit.1")).unwrap();
        server.signal("HUP");
        server.wait_for("policy reloaded");
        let found = tell(&server, &moved, &log_asks("gone"), &[("gone", "logs")]);
        let (mut found, mut right) = (found, right);
        // The directory has changed in between.
        for told in [&mut found, &mut right] {
            told.retain(|told| !told.what.contains("recursive=true"));
        }
        assert_same(&found, &right);
    }
}
