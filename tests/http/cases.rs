//! Rows of wire cases: what is asked and the whole answer.
//!
//! A file is a list of rows. A row has `note`, `request` and `wanted`, and what the server is started with: `policy`
//! (a document), `env`, `args`, `files` (beneath the base directory). `{base}` stands for the base directory everywhere.
//! `wanted.body` is the whole body; the text `<any>` in it stands for any value. `wanted.headers` and `wanted.audit` name
//! the members that must be there; `null` means that one must be absent.

use crate::raw::{self, Answer};
use crate::server::{Server, Setup, fill};
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
        let key = format!("{:?}{:?}{:?}{:?}", row.policy, row.env, row.args, row.files);
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
    row.files.iter().fold(setup, |setup, (path, text)| setup.file(path, text))
}

fn judge(row: &Row, server: &Server) -> Vec<String> {
    let base = server.base();
    let filled = |text: &str| fill(text, &base);
    let request = &row.request;
    let headers: Vec<_> = request.headers.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let body = request.body.as_ref().map(|body| match body {
        Value::String(text) => filled(text),
        other => filled(&other.to_string()),
    });
    let port = if request.path.starts_with("pty:") { server.pty_port.unwrap() } else { server.port };
    let path = filled(request.path.trim_start_matches("pty:"));
    let answer = raw::request(port, &request.method, &path, &headers, body.as_deref().map(str::as_bytes));
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
