//! A server with one production agent on it, the scripted model beside it, and what is asked of both.

use super::model::{Model, Seen};
use super::table::{Row, Source};
use super::{folder, setup};
use crate::follow::{Event, Follower};
use crate::lab::{Lab, until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Times an install is tried: a registry may be out of reach for a moment.
const TRIES: u32 = 4;

/// How long an install may be silent.
const INSTALL: Duration = Duration::from_secs(300);

/// Seconds that a turn may take before it is cancelled, and the test fails with what was said so far.
const TURN: u32 = 120;

pub struct Bench {
    pub row: Row,
    pub id: String,
    pub lab: Lab,
    pub model: Model,
    /// The directory that the agent works in.
    pub cwd: PathBuf,
}

impl Bench {
    /// Starts both, and installs the agent where it is not there yet.
    pub fn start(row: Row) -> Self {
        let lab = Lab { server: setup().start(), token: None };
        let base = lab.server.base();
        std::fs::create_dir(base.parent().unwrap().join("home")).unwrap();
        let cwd = base.join("project");
        std::fs::create_dir(&cwd).unwrap();
        let bench = Self { row, id: row.id.to_owned(), lab, model: Model::start(), cwd };
        match row.source {
            Source::Catalogue(version) => bench.install(version),
            Source::Script(path) => {
                let script = folder().join(path);
                assert!(script.exists(), "{} is not there: run .ci/agents", script.display());
                let args = [script.display().to_string()];
                bench.lab.post("/agents/catalog", json!({"id": row.id, "command": "node", "args": args}));
            }
        }
        let place = format!("http://127.0.0.1:{}", bench.model.port);
        let filled = |text: &str| text.replace("{model}", &place);
        for (path, text) in row.home {
            let path = bench.lab.server.dir.path().join("home").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, filled(text)).unwrap();
        }
        for (name, value) in row.credentials {
            let value = filled(value);
            bench.lab.post("/agents/credentials", json!({"name": name, "value": value, "agents": [row.id]}));
        }
        bench
    }

    fn install(&self, version: &str) {
        let shown = self.lab.get(&format!("/agents/catalog/{}", self.id));
        if installed(&shown).as_deref() == Some(version) {
            return;
        }
        // Some packages fetch their program in a script.
        let body = json!({"version": version, "allow_scripts": true});
        let path = format!("/agents/catalog/{}/install", self.id);
        for tried in 1..=TRIES {
            let port = self.lab.server.port;
            let mut stream = Follower::within(INSTALL, port, "POST", &path, None, Some(&body), None);
            assert_eq!(stream.status, 200, "{}: what is installed is refused", self.id);
            let events = stream.all();
            match events.last() {
                Some(done) if done.kind == "done" => {
                    assert_eq!(done.data["version"], version, "{events:#?}");
                    return;
                }
                _ => println!("{}: install {tried} of {TRIES}: {events:#?}", self.id),
            }
            // What is out of reach may be back in a while.
            std::thread::sleep(Duration::from_secs(u64::from(tried) * 5));
        }
        panic!("{} was not installed", self.id);
    }

    /// Opens a session in the project; yields its id.
    pub fn open(&self) -> String {
        let options: serde_json::Map<String, Value> =
            self.row.options.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        self.lab.session_with(&self.id, json!({"cwd": self.cwd.display().to_string(), "options": options}))
    }

    /// A file of the project.
    pub fn file(&self, name: &str) -> PathBuf {
        self.cwd.join(name)
    }

    /// A prompt that writes a file.
    pub fn write(&self, name: &str, text: &str) -> String {
        format!("Please write a file: [[write {} {text}]]", self.file(name).display())
    }

    /// Prompts, and follows the events of the turn.
    pub fn follow(&self, session: &str, prompt: &str) -> Follower {
        let path = format!("/agents/sessions/{session}/turns/stream");
        let body = json!({"prompt": prompt, "timeout_seconds": TURN});
        let stream = Follower::ask(self.lab.server.port, "POST", &path, None, Some(&body), None);
        assert_eq!(stream.status, 200);
        stream
    }

    /// Prompts, and waits until the turn has ended.
    pub fn turn(&self, session: &str, prompt: &str) -> Value {
        let events = self.follow(session, prompt).all();
        self.shown(session, &events)
    }

    /// A turn by its events.
    pub fn shown(&self, session: &str, events: &[Event]) -> Value {
        let turn = events.first().unwrap().data["turn_id"].as_str().unwrap().to_owned();
        self.lab.get(&format!("/agents/sessions/{session}/turns/{turn}"))["turn"].clone()
    }

    /// The request that holds up a session.
    pub fn pending(&self, session: &str) -> Value {
        let path = format!("/agents/requests?session_id={session}&state=pending");
        let all = self.lab.get(&path)["requests"].clone();
        assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
        all[0].clone()
    }

    pub fn decide(&self, request: &Value, decision: &str) -> Value {
        let id = request["request_id"].as_str().unwrap();
        self.lab.post(&format!("/agents/requests/{id}/decision"), json!({"decision": decision}))
    }

    /// The requests to the model that are part of a conversation, and not a title or the like.
    pub fn talk(&self) -> Vec<Seen> {
        let mut all = self.model.seen();
        all.retain(|seen| seen.body.contains("[["));
        all
    }

    /// Kills the agent, and waits until its session knows.
    pub fn kill(&self, session: &str) {
        let pid = self.lab.processes(&self.id)[0]["pid"].as_i64().unwrap();
        assert!(pid > 1, "{pid} is no process of ours");
        let kill = std::process::Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status();
        assert!(kill.unwrap().success());
        until("the session knows that its agent is gone", || {
            let shown = self.lab.get(&format!("/agents/sessions/{session}"));
            (shown["session"]["state"] == "disconnected").then_some(())
        });
    }

    /// Waits until no process works in the project.
    pub fn alone(&self) {
        until("no process is left", || {
            let left = working_in(&self.cwd);
            left.is_empty().then_some(())
        });
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        // Why a contract is broken the agent itself knows best. The server may be what is broken.
        println!("── what {} said, and the last that its model was asked", self.id);
        let logs = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let path = format!("/agents/processes?agent_id={}", self.id);
            for process in self.lab.get(&path)["processes"].as_array().into_iter().flatten() {
                let id = process["process_id"].as_str().unwrap_or_default();
                let logs = self.lab.get(&format!("/agents/processes/{id}/logs"));
                for line in logs["lines"].as_array().into_iter().flatten() {
                    println!("{}", line["text"].as_str().unwrap_or_default());
                }
            }
        }));
        if logs.is_err() {
            println!("the server does not say: {:#?}", self.lab.server.stderr());
        }
        for seen in self.model.seen().iter().rev().take(5).rev() {
            let end = seen.body.len().saturating_sub(600);
            let end = (end..).find(|end| seen.body.is_char_boundary(*end)).unwrap_or(0);
            println!("{} … {}", seen.path, seen.body.get(end..).unwrap_or_default());
        }
    }
}

/// The version of the package that is installed through the catalogue.
fn installed(shown: &Value) -> Option<String> {
    let bin = Path::new(shown["command"].as_str()?).parent()?;
    let package = bin.parent()?.join(shown["install"]["npm"].as_str()?).join("package.json");
    let package: Value = serde_json::from_slice(&std::fs::read(package).ok()?).ok()?;
    package["version"].as_str().map(str::to_owned)
}

/// Processes whose working directory lies in `dir`; one that ends while it is looked at is gone.
fn working_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir)))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
