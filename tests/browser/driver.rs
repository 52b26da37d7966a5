//! Asks a server's browser endpoints, and knows its processes.

use crate::client::Client;
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A server whose two identities `one` and `two` may use the browser, and `none` may not.
pub struct Driver {
    pub server: Server,
}

/// The rules of all tests: every browser endpoint, and `params` of `browser_navigate`.
pub fn setup(params: &str) -> Setup {
    let token =
        |id: &str, scope: &str| format!(r#"{{"id": "{id}", "token_env": "T_{id}", "scopes": ["{scope}"]}}"#);
    let tokens =
        [token("one", "browser:use"), token("two", "browser:use"), token("none", "files:read")].join(", ");
    let policy = format!(
        r#"{{"groups": {{"browser": true}}, "auth": {{"tokens": [{tokens}]}},
            "endpoints": {{"browser_navigate": {{"params": {params}}}}}}}"#
    );
    let setup = Setup::new().policy(&policy);
    ["one", "two", "none"]
        .into_iter()
        .fold(setup, |setup, id| setup.env(&format!("T_{id}"), &format!("secret-{id}")))
}

impl Driver {
    pub fn start(params: &str) -> Self {
        Self { server: setup(params).start() }
    }

    /// One call of identity `who`; a body makes it a POST.
    pub fn ask(&self, who: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map(Value::to_string);
        let token = format!("secret-{who}");
        let answer = Client::new(self.server.port).ask(method, path, Some(&token), body.as_deref());
        (answer.status, answer.json())
    }

    /// A call of `one` that must succeed.
    pub fn ok(&self, path: &str, body: Value) -> Value {
        self.ok_as("one", path, body)
    }

    pub fn ok_as(&self, who: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(who, path, Some(&body));
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    pub fn go(&self, url: &str) -> Value {
        self.ok("/browser/navigate", json!({ "url": url }))
    }

    pub fn eval(&self, script: &str) -> Value {
        self.ok("/browser/evaluate", json!({ "script": script }))["result"].take()
    }

    /// Type and text of every line of the console of `one`.
    pub fn console(&self) -> Vec<(String, String)> {
        let (status, answer) = self.ask("one", "/browser/console", None);
        assert_eq!(status, 200, "{answer}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        answer["logs"].as_array().unwrap().iter().map(|l| (text(&l["type"]), text(&l["text"]))).collect()
    }

    /// Reads the console until so many lines of a type have come; yields those. A line may come after the answer to what
    /// led to it.
    pub fn told(&self, kind: &str, count: usize) -> Vec<String> {
        let mut told = Vec::new();
        eventually(&format!("{count} lines of type {kind}"), || {
            told.extend(self.console().into_iter().filter(|line| line.0 == kind).map(|line| line.1));
            told.len() >= count
        });
        told
    }

    /// Status, code and rule of a call of `one`.
    pub fn refusal(&self, path: &str, body: Value) -> (u16, String, String) {
        let (status, answer) = self.ask("one", path, Some(&body));
        let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        (status, text("code"), text("rule"))
    }

    /// The rule that refuses a URL to `one`.
    pub fn refused(&self, url: &str) -> String {
        let (status, code, rule) = self.refusal("/browser/navigate", json!({ "url": url }));
        assert_eq!((status, &*code), (403, "url_not_allowed"), "{url}");
        rule
    }

    /// The processes of its browser.
    pub fn browsers(&self) -> Vec<i32> {
        browsers_of(self.server.pid())
    }
}

/// Everything beneath a process that is a browser, by the parent of each.
pub fn browsers_of(server: u32) -> Vec<i32> {
    let all: Vec<(i32, i32, String)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
            let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
            Some((pid, parent, name.to_owned()))
        })
        .collect();
    let (mut found, mut at) = (vec![i32::try_from(server).unwrap()], 0);
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(pid, _, _)| *pid));
        at += 1;
    }
    found.remove(0);
    found
}

/// Waits for something to become true.
pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
