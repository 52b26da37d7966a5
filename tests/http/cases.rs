//! Rows of wire cases: what is asked and the whole answer.
//!
//! A file is a list of rows. A row has `note`, `request` and `wanted`, and what the server is started with: `policy`
//! (a document), `env`, `args`, `files` (beneath the base directory), `links` (the same, with what each names). `{base}`
//! stands for the base directory everywhere.
//! `wanted.body` is the whole body; the text `<any>` in it stands for any value. `wanted.headers` and `wanted.audit` name
//! the members that must be there; `null` means that one must be absent. `before` are requests that are made first: what
//! their answers hold is known to the row by its name, as `{pid}`.

use crate::raw::{self, Answer};
use crate::server::{Server, Setup, fill};
use policy_lang::endpoint::{ENDPOINTS, GROUPS};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    note: String,
    #[serde(default)]
    policy: Option<Value>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    before: Vec<Request>,
    request: Request,
    wanted: Wanted,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// JSON, or text that is sent as it is.
    #[serde(default)]
    body: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    status: u16,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    headers: BTreeMap<String, Option<String>>,
    #[serde(default)]
    audit: BTreeMap<String, Value>,
}

impl Wanted {
    fn code(&self) -> &str {
        self.body.as_ref().and_then(|body| body["code"].as_str()).unwrap_or_default()
    }
}

fn get() -> String {
    "GET".to_owned()
}

#[test]
fn every_row_is_answered_as_wanted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/http");
    let mut files = Vec::new();
    yaml_files(&folder, &mut files);
    files.sort();
    assert!(!files.is_empty());
    let faults: Vec<_> = files.iter().flat_map(|file| run_file(&folder, file)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Groups whose endpoints are all asked in rows; those of the others are driven by programs of their own.
const IN_ROWS: [&str; 6] = ["commands", "file_ops", "process", "terminal", "system", "dev_tools"];

/// Whether an answer is of a kind.
type Is = fn(&Wanted) -> bool;

#[test]
fn each_endpoint_is_allowed_refused_and_malformed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/http");
    let kinds: [(&str, Is); 3] = [
        ("allowed", |wanted| wanted.status < 300),
        ("refused", |wanted| matches!(wanted.status, 401 | 403) || wanted.code() == "endpoint_disabled"),
        ("malformed", |wanted| wanted.status == 400),
    ];
    let mut faults = Vec::new();
    for group in GROUPS.iter().filter(|group| IN_ROWS.contains(&group.name)) {
        let endpoints = ENDPOINTS.iter().filter(|endpoint| endpoint.group == group.group);
        // What is upgraded is no row: see `sockets` and `terminal_sockets`.
        for endpoint in endpoints.filter(|endpoint| !endpoint.doors.iter().all(|door| door.upgrade)) {
            let file = folder.join(group.name).join(format!("{}.yaml", endpoint.name));
            let rows: Vec<Row> = serde_yaml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let missing = kinds.iter().filter(|(_, is)| !rows.iter().any(|row| is(&row.wanted)));
            faults.extend(missing.map(|(kind, _)| format!("{}: nothing is {kind}", endpoint.name)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn yaml_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}

fn run_file(folder: &Path, file: &Path) -> Vec<String> {
    let name = file.strip_prefix(folder).unwrap().display().to_string();
    let rows: Vec<Row> = match serde_yaml::from_str(&std::fs::read_to_string(file).unwrap()) {
        Ok(rows) => rows,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut servers: BTreeMap<String, Server> = BTreeMap::new();
    let mut faults = Vec::new();
    for row in &rows {
        let key = format!("{:?}{:?}{:?}{:?}{:?}", row.policy, row.env, row.args, row.files, row.links);
        let server = servers.entry(key).or_insert_with(|| setup(row).start());
        for fault in judge(row, server) {
            faults.push(format!("{name}: {}: {fault}", row.note));
        }
    }
    faults
}

fn setup(row: &Row) -> Setup {
    let mut setup = Setup::new();
    if let Some(policy) = &row.policy {
        setup = setup.policy(&policy.to_string());
    }
    for (name, value) in &row.env {
        setup = setup.env(name, value);
    }
    for arg in &row.args {
        setup = setup.arg(arg);
    }
    let setup = row.files.iter().fold(setup, |setup, (path, text)| setup.file(path, text));
    row.links.iter().fold(setup, |setup, (path, target)| setup.link(path, target))
}

/// What a text's `{name}` stands for, beside the directories.
type Known = BTreeMap<String, Value>;

fn filled(text: &str, base: &Path, known: &Known) -> String {
    known.iter().fold(fill(text, base), |text, (name, value)| {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("\"{{{name}}}\""), &value.to_string()).replace(&format!("{{{name}}}"), &plain)
    })
}

fn ask(server: &Server, request: &Request, known: &Known) -> Answer {
    let base = server.base();
    let filled = |text: &str| filled(text, &base, known);
    let headers: Vec<_> = request.headers.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let body = request.body.as_ref().map(|body| match body {
        Value::String(text) => filled(text),
        other => filled(&other.to_string()),
    });
    let port = if request.path.starts_with("pty:") { server.pty_port.unwrap() } else { server.port };
    let path = filled(request.path.trim_start_matches("pty:"));
    raw::request(port, &request.method, &path, &headers, body.as_deref().map(str::as_bytes))
}

fn judge(row: &Row, server: &Server) -> Vec<String> {
    let (base, mut known) = (server.base(), Known::new());
    for request in &row.before {
        let answer = ask(server, request, &known);
        let Some(members) = answer.json().as_object().cloned().filter(|_| answer.status < 300) else {
            return vec![format!("before it: {} {}", answer.status, body_of(&answer))];
        };
        known.extend(members);
    }
    let filled = |text: &str| filled(text, &base, &known);
    let answer = ask(server, &row.request, &known);
    let mut faults = Vec::new();
    if answer.status != row.wanted.status {
        faults.push(format!("status {} instead of {}", answer.status, row.wanted.status));
    }
    if let Some(wanted) = &row.wanted.body {
        let wanted: Value = serde_json::from_str(&filled(&wanted.to_string())).unwrap();
        let got = body_of(&answer);
        if !fits(&wanted, &got) {
            faults.push(format!("body\n  wanted {wanted}\n  got    {got}"));
        }
    }
    for (name, wanted) in &row.wanted.headers {
        let got = answer.header(name);
        if got != wanted.as_deref() && !(wanted.as_deref() == Some("<any>") && got.is_some()) {
            faults.push(format!("header {name}: {got:?} instead of {wanted:?}"));
        }
    }
    if !row.wanted.audit.is_empty() {
        let line = server.audit_of(answer.id());
        for (member, wanted) in &row.wanted.audit {
            if !fits(wanted, &line[member]) {
                faults.push(format!("audit {member}: {} instead of {wanted}", line[member]));
            }
        }
    }
    faults
}

/// JSON, or else the text.
fn body_of(answer: &Answer) -> Value {
    let text = || Value::String(String::from_utf8_lossy(&answer.body).into_owned());
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| text())
}

fn fits(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::String(any), _) if any == "<any>" => true,
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.len() == got.len()
                && wanted.iter().all(|(name, wanted)| got.get(name).is_some_and(|got| fits(wanted, got)))
        }
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.len() == got.len() && wanted.iter().zip(got).all(|(wanted, got)| fits(wanted, got))
        }
        _ => wanted == got,
    }
}
