//! A server with the agents group open, and scripted agents registered with it.

use crate::client::Client;
use crate::follow::Follower;
pub use crate::server::PATIENCE;
use crate::server::{Server, Setup};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A running server and how to ask it.
#[derive(Debug)]
pub struct Lab {
    pub server: Server,
    pub token: Option<String>,
}

/// The scripted agent, built where it is not up to date.
pub fn peer() -> String {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "runtime", "--example", "scripted_agent"]);
        // Where the server is.
        cargo.args((!cfg!(debug_assertions)).then_some("--release"));
        assert!(cargo.status().unwrap().success(), "the scripted agent was not built");
        let server = PathBuf::from(env!("CARGO_BIN_EXE_agent-sandbox-server"));
        server.parent().unwrap().join("examples/scripted_agent")
    });
    built.display().to_string()
}

impl Lab {
    /// A server where the group is open to everybody.
    pub fn start() -> Self {
        Self::with(Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents"))
    }

    /// The same under a policy: a list of endpoints and what holds for them, or whatever else a document may say.
    pub fn under(policy: &str) -> Self {
        Self::with(Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(policy))
    }

    /// A server that is set up otherwise; its state is in a folder of its own beside the base directory.
    pub fn with(setup: Setup) -> Self {
        Self { server: setup.arg("--state-dir").arg("{dir}/state").start(), token: None }
    }

    /// Speaks with this token from now on.
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// The base directory.
    pub fn base(&self) -> String {
        self.server.base().display().to_string()
    }

    /// One request: status and body.
    pub fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let body = body.map(|body| body.to_string());
        let answer = Client::new(self.server.port).ask(method, path, self.token.as_deref(), body.as_deref());
        let text = || Value::String(String::from_utf8_lossy(&answer.body).into_owned());
        (answer.status, serde_json::from_slice(&answer.body).unwrap_or_else(|_| text()))
    }

    /// A request that must succeed.
    pub fn ok(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, body) = self.ask(method, path, body);
        assert_eq!(status, 200, "{method} {path}: {body}");
        body
    }

    pub fn get(&self, path: &str) -> Value {
        self.ok("GET", path, None)
    }

    pub fn post(&self, path: &str, body: Value) -> Value {
        self.ok("POST", path, Some(body))
    }

    pub fn delete(&self, path: &str) -> Value {
        self.ok("DELETE", path, None)
    }

    /// A request that must be refused: its code.
    pub fn refused(&self, method: &str, path: &str, body: Option<Value>) -> String {
        let (status, body) = self.ask(method, path, body);
        assert!(status >= 400, "{method} {path}: {status} {body}");
        format!("{status} {}", body["code"].as_str().unwrap_or_default())
    }

    /// Registers the scripted agent with these flags.
    pub fn register(&self, id: &str, flags: &[&str]) -> Value {
        self.register_with(id, flags, json!({}))
    }

    /// The same with further members of the registration.
    pub fn register_with(&self, id: &str, flags: &[&str], more: Value) -> Value {
        let mut body = json!({"id": id, "command": peer(), "args": flags});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/agents/catalog", body)
    }

    /// Opens a session of an agent in the base directory; yields its id.
    pub fn session(&self, agent_id: &str) -> String {
        self.session_with(agent_id, json!({}))
    }

    /// The same with further members.
    pub fn session_with(&self, agent_id: &str, more: Value) -> String {
        let mut body = json!({"agent_id": agent_id, "cwd": self.base()});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let opened = self.post("/agents/sessions", body);
        opened["session"]["session_id"].as_str().unwrap().to_owned()
    }

    /// The number of the last event of a session.
    pub fn last(&self, session: &str) -> u64 {
        let shown = self.get(&format!("/agents/sessions/{session}"));
        shown["session"]["last_seq"].as_u64().unwrap()
    }

    /// Prompts, and waits until the turn has ended or needs a person; yields the turn.
    pub fn turn(&self, session: &str, prompt: &str) -> Value {
        let started = self.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": prompt}));
        let turn = started["turn"]["turn_id"].as_str().unwrap();
        self.get(&format!("/agents/sessions/{session}/turns/{turn}?wait_ms=60000&until=attention"))["turn"]
            .clone()
    }

    /// Follows a stream of events.
    pub fn follow(&self, path: &str) -> Follower {
        Follower::open(self.server.port, path, self.token.as_deref())
    }

    /// The processes of an agent that have not ended.
    pub fn processes(&self, agent_id: &str) -> Vec<Value> {
        let all = self.get(&format!("/agents/processes?agent_id={agent_id}"))["processes"].clone();
        all.as_array().unwrap().iter().filter(|process| process["state"] != "dead").cloned().collect()
    }
}

/// Asks until it is so.
pub fn until<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = seen() {
            return found;
        }
        assert!(Instant::now() < end, "it never came to be: {what}");
        // Slower than any rate that a policy sets.
        std::thread::sleep(Duration::from_millis(120));
    }
}

/// Whether a process of this id lives and is no zombie.
pub fn lives(pid: i64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
