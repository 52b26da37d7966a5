//! An install from the Python index: an index on loopback, and a wheel that the test makes.

use crate::follow::{Event, Follower};
use crate::lab::Lab;
use crate::server::Setup;
use crate::web;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a step of an install may take in silence on a busy machine.
const INSTALL: Duration = Duration::from_secs(180);

/// An agent that shakes hands and ends with its input.
const AGENT: &str = r#"
import json, sys

def main():
    ask = json.loads(sys.stdin.readline())
    info = {"name": "of-a-wheel", "version": "1.2"}
    result = {"protocolVersion": 1, "agentInfo": info}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
    sys.stdin.read()
"#;

/// The wheel of a version: a zip whose names and texts the packaging specifications give.
fn wheel(version: &str) -> Vec<u8> {
    let info = format!("agent_of_a_test-{version}.dist-info");
    let files = [
        ("agent_of_a_test.py".to_owned(), AGENT.to_owned()),
        (
            format!("{info}/METADATA"),
            format!("Metadata-Version: 2.1\nName: agent-of-a-test\nVersion: {version}\n"),
        ),
        (
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
        ),
        (
            format!("{info}/entry_points.txt"),
            "[console_scripts]\nagent-of-a-test = agent_of_a_test:main\n".to_owned(),
        ),
    ];
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let mut record = format!("{info}/RECORD,,\n");
    for (name, text) in &files {
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        record.push_str(&format!("{name},,\n"));
    }
    zip.start_file(format!("{info}/RECORD"), options).unwrap();
    zip.write_all(record.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Every file that pip asks for.
type Asked = Arc<Mutex<Vec<String>>>;

/// An index with two versions; its URL, and what it is asked for.
fn index() -> (String, Asked) {
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    let port = web::serve(|_| {
        let answer = move |uri: Uri| {
            let path = uri.path().to_owned();
            seen.lock().unwrap().push(path.clone());
            let version = ["1.0", "1.2"].into_iter().find(|version| path == file(version));
            std::future::ready(match (version, path.as_str()) {
                (Some(version), _) => wheel(version).into_response(),
                (None, "/simple/agent-of-a-test/") => {
                    let links = ["1.0", "1.2"].map(|version| {
                        let (path, sum) = (file(version), sum(&wheel(version)));
                        format!("<a href=\"{path}#sha256={sum}\">{}</a>", path.trim_start_matches("/files/"))
                    });
                    Html(links.concat()).into_response()
                }
                _ => StatusCode::NOT_FOUND.into_response(),
            })
        };
        axum::Router::new().fallback(answer)
    });
    (format!("http://127.0.0.1:{port}/simple/"), asked)
}

fn file(version: &str) -> String {
    format!("/files/agent_of_a_test-{version}-py3-none-any.whl")
}

fn sum(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn install(lab: &Lab, body: &Value) -> Vec<Event> {
    let path = "/agents/catalog/mine/install";
    let mut stream = Follower::within(INSTALL, lab.server.port, "POST", path, None, Some(body), None);
    assert_eq!(stream.status, 200);
    stream.all()
}

#[test]
fn a_wheel_is_installed_run_renewed_and_removed() {
    let (url, asked) = index();
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").env("PIP_INDEX_URL", &url);
    let lab = Lab::with(setup);
    let package = json!({"pypi": "agent-of-a-test"});
    lab.post("/agents/catalog", json!({"id": "mine", "command": "agent-of-a-test", "install": package}));
    let events = install(&lab, &json!({"version": "1.0"}));
    assert_eq!(events[0].data, json!({"source": "pypi", "version": "1.0"}), "{events:#?}");
    let done = &events.last().unwrap().data;
    assert_eq!(done["version"], "1.0", "{events:#?}");
    let command = done["command"].as_str().unwrap();
    assert!(Path::new(command).starts_with(lab.server.dir.path().join("state-packages/mine")));
    let probe = lab.post("/agents/catalog/mine/probe", json!({}));
    assert_eq!(probe["agent_info"], json!({"name": "of-a-wheel", "version": "1.2"}));
    // The same version is not fetched again; the newest is another.
    let before = asked.lock().unwrap().len();
    assert_eq!(install(&lab, &json!({"version": "1.0"})).last().unwrap().data["command"], command);
    assert_eq!(asked.lock().unwrap().len(), before);
    let events = install(&lab, &json!({}));
    assert_eq!(events.last().unwrap().data["version"], "1.2", "{events:#?}");
    assert!(!Path::new(command).exists(), "the earlier one is gone");
    lab.post("/agents/catalog/mine/probe", json!({}));

    // A version that the index does not have leaves the one that is there.
    let events = install(&lab, &json!({"version": "9.9"}));
    assert_eq!(events.last().unwrap().data["code"], "install_failed", "{events:#?}");
    assert_eq!(lab.get("/agents/catalog/mine")["installed"], true);
    let path = "/agents/catalog/mine/install";
    let refused = |version: &str| lab.refused("POST", path, Some(json!({"version": version})));
    assert_eq!(refused("1.0; touch x"), "400 invalid_parameter");
    assert_eq!(refused("--pre"), "400 invalid_parameter");
    let gone = lab.delete("/agents/catalog/mine");
    assert_eq!((&gone["uninstalled"], &gone["unregistered"]), (&json!(true), &json!(true)));
    assert!(!lab.server.dir.path().join("state-packages/mine").exists());
}
