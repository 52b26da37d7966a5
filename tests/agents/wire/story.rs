//! A story: chapters, each with a server, agents and steps that are asked one after the other.
//!
//! ```yaml
//! - policy: {endpoints: {…}}          # beside the tokens; absent: nothing more
//!   agents: [{id: mine, flags: [--can, load]}]
//!   steps:
//!   - note: what is asked             # without `is`: what has to be there first
//!     do: POST /agents/sessions
//!     body: {agent_id: mine, cwd: "{base}"}
//!     keep: {session: /session/session_id}   # `{session}` in later steps
//!   - note: what nobody may
//!     is: refused                     # or allowed, malformed
//!     as: looks                       # a token; absent: everything
//!     do: DELETE /agents/sessions/{session}
//!     wants: 403 missing_scope        # absent: 200
//!   - note: its end
//!     do: GET /agents/sessions/{session}
//!     until: {/session/state: idle}   # asked again until it is so; `<set>`, `<at least 3>`
//!   elsewhere: {503 git_missing: the_name_of_a_test}   # errors that take more than a step
//! ```
//!
//! `stream: KIND` reads events up to that kind (`end`: to the end), `after` becomes `Last-Event-ID`; `file: {path: text}`
//! writes beneath the base directory; `quiet: true` shows nothing of an answer; `{agent}` is the scripted agent.

use super::shown::Names;
use crate::client::Client;
use crate::follow::Follower;
use crate::lab::{self, Lab, until};
use crate::server::Setup;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tokens: who may do everything, who may look, who may neither look at agents nor run them.
const TOKENS: [(&str, &str); 4] =
    [("all", "*"), ("looks", "agents:read"), ("runs", "agents:run"), ("stranger", "core:read")];

/// The chapters of an endpoint.
#[derive(Debug, Deserialize)]
pub struct Story(Vec<Chapter>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter {
    #[serde(default)]
    policy: BTreeMap<String, Value>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Members that are not shown, beside those of one run.
    #[serde(default)]
    hides: Vec<String>,
    /// Whether numbers of events are shown: they are, where nothing happens by itself meanwhile.
    #[serde(default)]
    numbers: bool,
    #[serde(default)]
    agents: Vec<BTreeMap<String, Value>>,
    steps: Vec<Step>,
    #[serde(default)]
    elsewhere: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    note: String,
    #[serde(default, rename = "is")]
    sort: Option<Sort>,
    #[serde(default, rename = "as")]
    caller: Option<String>,
    #[serde(rename = "do")]
    asked: String,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    wants: Option<String>,
    #[serde(default)]
    keep: BTreeMap<String, String>,
    #[serde(default)]
    until: BTreeMap<String, Value>,
    #[serde(default)]
    stream: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    file: BTreeMap<String, String>,
    #[serde(default)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Allowed,
    Refused,
    Malformed,
}

impl Sort {
    /// Whether an answer is of this sort: what is malformed is the caller's fault whatever the server holds.
    fn fits(self, status: u16) -> bool {
        match self {
            Self::Allowed => (200..300).contains(&status),
            Self::Refused => (401..600).contains(&status),
            Self::Malformed => matches!(status, 400 | 404 | 413),
        }
    }
}

impl Story {
    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().flat_map(|chapter| &chapter.steps)
    }

    /// The sorts that no step is of.
    pub fn lacks(&self) -> Vec<String> {
        let sorts = [Sort::Allowed, Sort::Refused, Sort::Malformed];
        let lacks = |sort: &Sort| !self.steps().any(|step| step.sort == Some(*sort));
        sorts.into_iter().filter(lacks).map(|sort| format!("{sort:?}")).collect()
    }

    /// Whether a step wants this error.
    pub fn wants(&self, error: &str) -> bool {
        self.steps().any(|step| step.wants.as_deref() == Some(error))
    }

    /// The test that holds an error that no step brings about.
    pub fn elsewhere(&self, error: &str) -> Option<&str> {
        self.0.iter().find_map(|chapter| chapter.elsewhere.get(error)).map(String::as_str)
    }

    /// Plays it; yields everything that was answered, or what was not as wanted.
    pub fn play(&self, name: &str) -> Result<String, String> {
        self.0.iter().map(|chapter| chapter.play(name)).collect()
    }
}

impl Chapter {
    fn play(&self, name: &str) -> Result<String, String> {
        let lab = self.lab();
        let mut names = Names::new(&lab.server.base(), &lab::peer());
        names.hide(self.hides.iter().map(String::as_str));
        if !self.numbers {
            names.hide(["seq", "first_seq", "last_seq"]);
        }
        for agent in &self.agents {
            let mut body = json!({"command": "{agent}"});
            for (member, value) in agent {
                body[if member == "flags" { "args" } else { member }] = value.clone();
            }
            lab.post("/agents/catalog", names.filled(&body));
        }
        let mut text = String::new();
        for step in &self.steps {
            let fault = |what: String| format!("{name}: {}: {what}", step.note);
            let (status, answer) = step.ask(&lab, &mut names).map_err(fault)?;
            step.judge(status, &answer).map_err(fault)?;
            for (kept, pointer) in &step.keep {
                let value = answer.pointer(pointer).and_then(Value::as_str);
                let value = value.ok_or_else(|| fault(format!("no text at {pointer}: {answer}")))?;
                names.keep(kept, value);
            }
            if !step.quiet {
                let body = step.body.as_ref().map(|body| format!(" {body}")).unwrap_or_default();
                let caller = step.caller.as_ref().map(|caller| format!(" as {caller}")).unwrap_or_default();
                text.push_str(&format!("# {}\n{}{body}{caller}\n{status} ", step.note, step.asked));
                text.push_str(&names.shown(answer));
                text.push_str("\n\n");
            }
        }
        Ok(text)
    }

    fn lab(&self) -> Lab {
        let tokens: Vec<Value> = TOKENS
            .iter()
            .map(|(id, scope)| json!({"id": id, "scopes": [scope], "token_env": format!("TOKEN_{id}")}))
            .collect();
        let mut policy = self.policy.clone();
        policy.insert("auth".to_owned(), json!({"tokens": tokens}));
        let often = json!({"limits": {"rate_per_minute": 100_000}});
        policy.entry("defaults".to_owned()).or_insert(often);
        let mut setup =
            Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(&json!(policy).to_string());
        for (id, _) in TOKENS {
            setup = setup.env(&format!("TOKEN_{id}"), &token(id));
        }
        for (name, value) in &self.env {
            setup = setup.env(name, value);
        }
        Lab::with(setup).token(&token("all"))
    }
}

fn token(id: &str) -> String {
    format!("token-of-{id}-0123456789")
}

impl Step {
    fn ask(&self, lab: &Lab, names: &mut Names) -> Result<(u16, Value), String> {
        for (path, text) in &self.file {
            let path = lab.server.base().join(names.text(path));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, names.text(text)).unwrap();
        }
        let asked = names.text(&self.asked);
        let (method, path) = asked.split_once(' ').ok_or("`do` is a method and a path")?;
        let body = self.body.as_ref().map(|body| names.filled(body));
        let token = token(self.caller.as_deref().unwrap_or("all"));
        if let Some(last) = &self.stream {
            let after = self.after.as_ref().map(|after| after.parse().unwrap());
            let mut stream = Follower::ask(lab.server.port, method, path, Some(&token), body.as_ref(), after);
            if stream.status != 200 {
                return Err(format!("the stream was refused: {}", stream.status));
            }
            let events = if last == "end" { stream.all() } else { stream.until(last) };
            let shown = |event: &crate::follow::Event| json!([event.id, event.kind, event.data]);
            return Ok((200, events.iter().map(shown).collect()));
        }
        let ask = || {
            let body = body.as_ref().map(Value::to_string);
            let answer = Client::new(lab.server.port).ask(method, path, Some(&token), body.as_deref());
            let text = || Value::String(String::from_utf8_lossy(&answer.body).into_owned());
            (answer.status, serde_json::from_slice(&answer.body).unwrap_or_else(|_| text()))
        };
        if self.until.is_empty() {
            return Ok(ask());
        }
        Ok(until(&self.note, || {
            let (status, answer) = ask();
            let so = self.until.iter().all(|(pointer, value)| {
                let got = answer.pointer(pointer).unwrap_or(&Value::Null);
                match value.as_str() {
                    Some("<set>") => !got.is_null(),
                    Some(most) if most.starts_with("<at least ") => {
                        let least = most.trim_start_matches("<at least ").trim_end_matches('>').parse().ok();
                        got.as_u64() >= least
                    }
                    _ => *got == names.filled(value),
                }
            });
            so.then_some((status, answer))
        }))
    }

    fn judge(&self, status: u16, answer: &Value) -> Result<(), String> {
        let got = match answer["code"].as_str() {
            Some(code) if status >= 400 => format!("{status} {code}"),
            _ => status.to_string(),
        };
        let wants = self.wants.as_deref().unwrap_or("200");
        if got != wants {
            return Err(format!("{got} instead of {wants}: {answer}"));
        }
        match self.sort {
            Some(sort) if !sort.fits(status) => Err(format!("{status} is not {sort:?}")),
            _ => Ok(()),
        }
    }
}
