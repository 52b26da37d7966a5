//! The guard's table over the wire: every row of `../guard/table.txt` by every endpoint that takes a path, with links
//! followed and links refused, asked of a server with `openat2` and of servers whose kernel refuses it.
//!
//! An endpoint answers what its service answers in the table. What lies outside stays as it is and is in no answer.
//! Which error a kernel refuses `openat2` with changes nothing after the start, so unless `FULL_COUNTS=1` the second
//! one is asked every seventh row only.

use crate::client::Client;
use crate::mount::Mount;
use crate::raw::Answer;
use crate::rows;
use crate::server::{Server, Setup, full};
use crate::world::{CANARY, Canary, canaries, inside, outside};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// What an endpoint has to answer.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    /// The word in this column of the table.
    Column(usize),
    /// As a working directory: what a listing is refused for; otherwise 400 where there is none.
    Directory,
    /// The same, and there is no repository.
    Repository,
    /// The verdict on the path as it is spelled: where that is a refusal, a read is refused for the same reason.
    Verdict,
}

/// Method, target and body for a path; none where the endpoint cannot be asked for it.
type Request = Option<(&'static str, String, Option<Sent>)>;

/// A body.
enum Sent {
    Json(Value),
    /// One part, `file`, that says `new`.
    File,
}

impl Sent {
    fn into_text(self) -> (&'static str, String) {
        match self {
            Self::Json(value) => ("application/json", value.to_string()),
            Self::File => (
                "multipart/form-data; boundary=xx",
                "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nnew\r\n--xx--\r\n"
                    .to_owned(),
            ),
        }
    }
}

struct Door {
    name: &'static str,
    wanted: Wanted,
    changes: bool,
    request: fn(&[u8]) -> Request,
}

const LIST: usize = 2;

/// Every path parameter of every endpoint that is built.
const DOORS: &[Door] = &[
    door("download", Wanted::Column(0), false, |path| get("/download", path)),
    door("download-stream", Wanted::Column(0), false, |path| get("/files/download-stream", path)),
    door("stat", Wanted::Column(1), false, |path| get("/files/stat", path)),
    door("list", Wanted::Column(LIST), false, |path| get("/files/list", path)),
    door("search", Wanted::Column(3), false, |path| {
        post("/files/search", "path", path, json!({ "pattern": "*" }))
    }),
    door("grep", Wanted::Column(4), false, |path| {
        post("/files/grep", "path", path, json!({ "pattern": "a" }))
    }),
    door("archive", Wanted::Column(5), false, |path| {
        let paths = match std::str::from_utf8(path) {
            Ok(text) => json!({ "paths": [text] }),
            Err(_) => json!({ "paths_base64": [STANDARD.encode(path)] }),
        };
        Some(("POST", "/files/archive".to_owned(), Some(Sent::Json(paths))))
    }),
    door("mkdir", Wanted::Column(6), true, |path| post("/files/mkdir", "path", path, json!({}))),
    door("upload", Wanted::Column(7), true, |path| {
        post("/upload", "path", path, json!({ "content_base64": "bmV3" }))
    }),
    door("upload-stream", Wanted::Column(7), true, |path| {
        post("/files/upload-stream", "path", path, json!({ "content_base64": "bmV3" }))
    }),
    door("delete", Wanted::Column(8), true, |path| {
        let (_, target, _) = get("/files", path)?;
        Some(("DELETE", target, None))
    }),
    door("move from", Wanted::Column(9), true, |path| {
        post("/files/move", "source", path, json!({ "destination": "empty/moved" }))
    }),
    door("move to", Wanted::Column(10), true, |path| {
        post("/files/move", "destination", path, json!({ "source": "d/sub/deep.txt" }))
    }),
    door("shell", Wanted::Directory, false, |path| run("/shell", path, json!({ "command": "true" }))),
    door("shell/stream", Wanted::Directory, false, |path| {
        run("/shell/stream", path, json!({ "command": "true" }))
    }),
    door("process/start", Wanted::Directory, false, |path| {
        run("/process/start", path, json!({ "command": "true" }))
    }),
    door("pty", Wanted::Directory, false, |path| run("/pty/sessions", path, json!({ "shell": "/bin/sh" }))),
    door("code/run", Wanted::Directory, false, |path| {
        run("/code/run", path, json!({ "language": "bash", "code": ":" }))
    }),
    door("git/status", Wanted::Repository, false, |path| get("/git/status", path)),
    door("git/diff", Wanted::Repository, false, |path| get("/git/diff", path)),
    door("plane: download", Wanted::Column(0), false, |path| get("/v2/sandboxes/box/download", path)),
    door("plane: upload", Wanted::Column(7), true, |path| {
        let (_, target, _) = get("/v2/sandboxes/box/upload", path)?;
        Some(("POST", target, Some(Sent::File)))
    }),
    door("plane: glob", Wanted::Column(3), false, |path| {
        post("/v2/sandboxes/box/glob", "path", path, json!({ "pattern": "*" }))
    }),
    door("plane: grep", Wanted::Column(4), false, |path| {
        post("/v2/sandboxes/box/grep", "path", path, json!({ "pattern": "a" }))
    }),
    door("plane: execute", Wanted::Directory, false, |path| {
        run("/v2/sandboxes/box/execute", path, json!({ "command": ["true"] }))
    }),
    door("plane: execute/stream/start", Wanted::Directory, false, |path| {
        run("/v2/sandboxes/box/execute/stream/start", path, json!({ "command": ["true"] }))
    }),
    door("check", Wanted::Verdict, false, |path| {
        let path = std::str::from_utf8(path).ok()?;
        let body = json!({ "endpoint": "download", "path": path });
        Some(("POST", "/capabilities/check".to_owned(), Some(Sent::Json(body))))
    }),
];

const fn door(name: &'static str, wanted: Wanted, changes: bool, request: fn(&[u8]) -> Request) -> Door {
    Door { name, wanted, changes, request }
}

/// Every byte is escaped: what the server decodes is the path and nothing else.
fn get(target: &str, path: &[u8]) -> Request {
    let escaped: String = path.iter().map(|byte| format!("%{byte:02x}")).collect();
    Some(("GET", format!("{target}?path={escaped}"), None))
}

fn post(target: &str, name: &str, path: &[u8], mut body: Value) -> Request {
    match std::str::from_utf8(path) {
        Ok(text) => body[name] = json!(text),
        Err(_) => body[format!("{name}_base64")] = json!(STANDARD.encode(path)),
    }
    Some(("POST", target.to_owned(), Some(Sent::Json(body))))
}

fn run(target: &str, path: &[u8], mut body: Value) -> Request {
    body["cwd"] = json!(std::str::from_utf8(path).ok()?);
    Some(("POST", target.to_owned(), Some(Sent::Json(body))))
}

/// A row: the path as it is written, and the words of the table with links followed and with links refused.
struct Row {
    path: String,
    words: [Vec<String>; 2],
}

fn table() -> Vec<Row> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guard/table.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let path = rows::path_of(line)?.to_owned();
        let mut columns = line.split(" | ").skip(1);
        let words = [(); 2].map(|()| columns.next().unwrap().split(' ').map(str::to_owned).collect());
        Some(Row { path, words })
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn every_path_by_every_endpoint_in_every_mode_with_every_resolver() {
    let rows = table();
    let faults = [None, Some(libc::ENOSYS), Some(libc::EPERM)];
    let memory = tempfile::tempdir().unwrap();
    // Durable writes wait for a disk; in memory they do not.
    let _mount = Mount::tmpfs("64m", memory.path());
    let counts: Vec<_> = std::thread::scope(|scope| {
        let rows = &rows;
        let memory = memory.path();
        let run = |fault: Option<i32>| {
            [false, true].map(|deny| scope.spawn(move || Run::start(memory, fault, deny).rows(rows)))
        };
        let threads: Vec<_> = faults.into_iter().flat_map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let requests: usize = counts.iter().map(|count| count.0).sum();
    let wrong: Vec<&String> = counts.iter().flat_map(|count| &count.1).collect();
    println!("{} rows, {} servers, {requests} requests", rows.len(), counts.len());
    assert!(wrong.is_empty(), "{} answers differ from the table:\n{wrong:#?}", wrong.len());
    assert!(requests > rows.len() * DOORS.len() * 4, "{requests} requests");
}

/// One server and what surrounds it.
struct Run {
    server: Server,
    client: Client,
    before: Vec<Canary>,
    deny: bool,
    step: usize,
    what: String,
}

impl Run {
    fn start(within: &Path, fault: Option<i32>, deny: bool) -> Self {
        let links = if deny { "deny" } else { "within" };
        let policy = json!({
            "groups": { "dev_tools": true },
            "defaults": { "paths": {
                "deny": ["**/.env", "**/.git", "**/*.pem"],
                "read_only": ["{base}/ro"],
                "symlinks": links,
            } },
        });
        let setup =
            Setup::new().policy(&policy.to_string()).env("ABX_AUDIT_FILE", "{base}/audit.log").within(within);
        let server = start(setup, fault);
        outside(server.dir.path());
        inside(server.dir.path());
        Self {
            client: Client::new(server.port),
            before: canaries(server.dir.path()),
            deny,
            step: if fault == Some(libc::EPERM) && !full() { 7 } else { 1 },
            what: format!("openat2 {fault:?}, links {links}"),
            server,
        }
    }

    /// How many requests were made, and which answers were wrong.
    fn rows(mut self, rows: &[Row]) -> (usize, Vec<String>) {
        let (mut count, mut wrong) = (0, Vec::new());
        for row in rows.iter().step_by(self.step) {
            let path = rows::unescape(&row.path, self.server.dir.path());
            for door in DOORS {
                let Some((method, target, body)) = (door.request)(&path) else { continue };
                let body = body.map(Sent::into_text);
                let body = body.as_ref().map(|(kind, text)| (*kind, text.as_str()));
                let answer = self.client.send(method, &target, None, body);
                count += 1;
                let what = format!("{} {} ({})", door.name, row.path, self.what);
                self.assert_nothing_leaks(&answer, &what);
                if let Err(problem) = fits(door.wanted, &answer, &row.words[usize::from(self.deny)], &path) {
                    wrong.push(format!("{what}: {problem}"));
                }
                self.settle(door, &answer);
            }
        }
        (count, wrong)
    }

    fn assert_nothing_leaks(&self, answer: &Answer, what: &str) {
        let top = self.server.dir.path();
        assert_eq!(canaries(top), self.before, "{what}");
        let json = answer.json();
        let content = STANDARD.decode(json["content_base64"].as_str().unwrap_or_default()).unwrap();
        let mut unpacked = Vec::new();
        if content.starts_with(&[0x1f, 0x8b]) {
            flate2::read::GzDecoder::new(&content[..]).read_to_end(&mut unpacked).unwrap();
        }
        for text in [&answer.body, &content, &unpacked] {
            let found = text.windows(CANARY.len()).any(|window| window == CANARY);
            assert!(!found, "{what} answered what lies outside");
        }
    }

    /// Brings back what a request has changed, and ends what it has started.
    fn settle(&mut self, door: &Door, answer: &Answer) {
        if let Some(session) = answer.json()["session_id"].as_str() {
            let gone = self.client.ask("DELETE", &format!("/pty/sessions/{session}"), None, None);
            assert_eq!(gone.status, 200, "{gone:?}");
        }
        if !(door.changes && answer.status == 200) {
            return;
        }
        let base = self.server.base();
        assert!(base.join(".env").exists() && base.join("ro/f.txt").exists(), "{}", door.name);
        for entry in std::fs::read_dir(&base).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                std::fs::remove_dir_all(entry.path()).unwrap();
            } else if entry.file_name() != "audit.log" {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        inside(self.server.dir.path());
    }
}

/// Starts a server whose kernel refuses `openat2` with an error, or has it.
pub(crate) fn start(setup: Setup, fault: Option<i32>) -> Server {
    let server = match fault {
        None => setup.start(),
        // A filter holds for the thread that asks for it and for what that starts.
        Some(errno) => std::thread::spawn(move || {
            apply_filter(&without_openat2(errno)).unwrap();
            setup.start()
        })
        .join()
        .unwrap(),
    };
    let walks = server.stderr().iter().any(|line| line.contains("openat2 does not work here"));
    assert_eq!(walks, fault.is_some(), "{:?}", server.stderr());
    server
}

fn without_openat2(errno: i32) -> BpfProgram {
    let filter = SeccompFilter::new(
        BTreeMap::from([(libc::SYS_openat2, Vec::new())]),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.cast_unsigned()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    filter.unwrap().try_into().unwrap()
}

/// Whether an answer is the one that the table wants.
fn fits(wanted: Wanted, answer: &Answer, words: &[String], path: &[u8]) -> Result<(), String> {
    let json = answer.json();
    let got = word(answer.status, &json);
    let refused = |word: &str| matches!(word, "not-allowed" | "denied" | "symlink" | "read-only");
    let list = words[LIST].as_str();
    let fits = match wanted {
        // A caller is told that the base is not to be changed in the words of a read-only path.
        Wanted::Column(at) if words[at] == "base" => got == "read-only",
        Wanted::Column(at) => got == words[at],
        Wanted::Directory if list == "ok" || refused(list) => got == list,
        Wanted::Directory => answer.status == 400,
        Wanted::Repository if path.is_empty() => true,
        Wanted::Repository if answer.status == 400 => !refused(list) || json["type"] == "ValueError",
        Wanted::Repository => got == list,
        Wanted::Verdict => match json["code"].as_str() {
            Some(_) => word(json["status"].as_u64().unwrap_or(400).try_into().unwrap(), &json) == words[0],
            None => json["allowed"] == true,
        },
    };
    if fits { Ok(()) } else { Err(format!("{got}, the table says {words:?}: {} {json}", answer.status)) }
}

/// An answer in the words of the table.
fn word(status: u16, json: &Value) -> String {
    let code = json["code"].as_str().unwrap_or_default();
    match (status, code) {
        (200, _) if json["exists"] == false => "absent",
        (200, _) => "ok",
        (_, "path_not_allowed") => "not-allowed",
        (_, "path_denied") => "denied",
        (_, "symlink_denied") => "symlink",
        (_, "invalid_parameter") if json["type"] == "NotADirectoryError" => "no-dir",
        (_, "invalid_parameter") => "invalid",
        (_, "not_a_regular_file") => "no-file",
        (_, "not_found") => "absent",
        (_, "already_exists") => "exists",
        (_, "read_only") => "read-only",
        (_, other) => other,
    }
    .to_owned()
}
