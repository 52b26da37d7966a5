//! What happens in a prompt: a line of its text is a scene.
//!
//! | scene | |
//! |---|---|
//! | `echo TEXT` | the text comes back; anything unknown too |
//! | `blocks` | the whole prompt comes back as JSON |
//! | `updates` | every kind of update once |
//! | `plan DONE TOTAL` | a plan |
//! | `todo DONE TOTAL` | a plan as the input of a tool |
//! | `permission TITLE` | asks for leave to run TITLE; `permission_edit PATH` to change a file |
//! | `form`, `url`, `done_with ID` | a question; a page; that one is done with |
//! | `read PATH`, `write PATH TEXT` | files through the client |
//! | `terminal COMMAND ARG…` | a terminal of the client |
//! | `save PATH TEXT`, `unlink PATH` | a file of its own making |
//! | `image` | an image |
//! | `open_tool`, `early_tool` | a tool call that never ends; an update of one that never began |
//! | `usage USED COST`, `session_info TITLE` | what they say; without a cost where that is 0 |
//! | `cost AMOUNT` | a cost, and nothing of how full it is |
//! | `tokens INPUT …` | what the answer says of tokens: in, out, thought, read and written; nothing where there are none |
//! | `flood N BYTES`, `messages N`, `huge BYTES` | many chunks of one message; many messages; one long line |
//! | `noise`, `unknown`, `duplicate` | text that is no message; members and kinds that nobody knows; a second answer |
//! | `print TEXT`, `babble N BYTES` | a line that is no message; many of them |
//! | `env NAME…`, `mcp`, `cwd` | what it was given |
//! | `sleep MS`, `wait`, `listen` | takes time; until cancelled; until steered |
//! | `never`, `ignore_cancel` | no answer; none to a cancel either |
//! | `stderr TEXT`, `crash STATUS` | on standard error; the end |
//! | `stop REASON`, `fail CODE` | how the turn ends |

use crate::answers::tell;
use crate::raw;
use crate::state::Shared;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error, Result, UntypedMessage};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A pixel.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// One turn.
struct Turn {
    peer: Shared,
    cx: ConnectionTo<Client>,
    session: String,
    prompt: Value,
    cancelled: CancellationToken,
    id: Value,
    calls: u32,
    usage: Value,
}

/// How a scene leaves the turn.
enum Next {
    On,
    Stop(&'static str),
    Fail(i32),
    Silent,
}

/// Plays a prompt beside everything else.
pub fn prompt(
    peer: &Shared,
    params: &Value,
    responder: Responder<Value>,
    cx: &ConnectionTo<Client>,
) -> Result<()> {
    let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
    let cancelled = CancellationToken::new();
    match peer.live().get_mut(&session) {
        None => return responder.respond_with_error(Error::new(-32002, "no such conversation")),
        Some(live) if live.prompt.is_some() => {
            // What this server must never do.
            return responder.respond_with_error(Error::new(-32099, "two prompts are open"));
        }
        Some(live) => live.prompt = Some(cancelled.clone()),
    }
    let id = serde_json::to_value(responder.id()).unwrap_or_default();
    let mut turn = Turn {
        peer: peer.clone(),
        cx: cx.clone(),
        session,
        prompt: params["prompt"].clone(),
        cancelled,
        id,
        calls: 0,
        usage: json!({"totalTokens": 30, "inputTokens": 20, "outputTokens": 10}),
    };
    cx.spawn(async move {
        let end = turn.play().await;
        if let Some(live) = turn.peer.live().get_mut(&turn.session) {
            live.prompt = None;
        }
        match end {
            Ok(Next::Stop(reason)) => {
                let mut answer = json!({"stopReason": reason});
                if !turn.usage.is_null() {
                    answer["usage"] = turn.usage.take();
                }
                responder.respond(answer)
            }
            Ok(Next::Fail(code)) => responder.respond_with_error(Error::new(code, "failed as asked")),
            Ok(Next::On | Next::Silent) => std::future::pending().await,
            Err(error) => responder.respond_with_error(error),
        }
    })
}

impl Turn {
    async fn play(&mut self) -> Result<Next> {
        let blocks = self.prompt.as_array().cloned().unwrap_or_default();
        let text: String =
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n");
        let user = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}});
        self.peer.change(&self.session, |conversation| conversation.history.push(user));
        for line in text.lines() {
            if self.cancelled.is_cancelled() {
                return Ok(Next::Stop("cancelled"));
            }
            let (scene, rest) = line.split_once(' ').unwrap_or((line, ""));
            match self.scene(scene, rest, line).await? {
                Next::On => {}
                end => return Ok(end),
            }
            let steered =
                self.peer.live().get_mut(&self.session).map(|live| std::mem::take(&mut live.steered));
            for text in steered.unwrap_or_default() {
                self.say(&format!("steered: {text}"))?;
            }
        }
        Ok(Next::Stop(if self.cancelled.is_cancelled() { "cancelled" } else { "end_turn" }))
    }

    async fn scene(&mut self, scene: &str, rest: &str, line: &str) -> Result<Next> {
        let mut words = rest.split(' ').filter(|word| !word.is_empty());
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match scene {
            "echo" => self.say(rest)?,
            "blocks" => self.say(&self.prompt.to_string())?,
            "updates" => self.every_update()?,
            "plan" => self.plan(number(), number())?,
            "todo" => self.todo(number(), number())?,
            "permission" => return self.permission(json!({"kind": "execute", "title": rest, "rawInput": {"command": rest}})).await,
            "permission_edit" => {
                let diff = json!([{"type": "diff", "path": rest, "oldText": "old\n", "newText": "new\n"}]);
                let call = json!({"kind": "edit", "title": format!("Edit {rest}"), "content": diff, "locations": [{"path": rest}]});
                return self.permission(call).await;
            }
            "form" => return self.ask(json!({"mode": "form", "message": "Which one?", "requestedSchema": form()})).await,
            "url" => {
                let asked = self.ask(json!({
                    "mode": "url", "message": "Open this", "elicitationId": "elc-1", "url": "https://example.test/consent",
                }));
                let next = asked.await?;
                self.done_with("elc-1")?;
                return Ok(next);
            }
            "done_with" => self.done_with(rest)?,
            "read" => self.client("fs/read_text_file", json!({"path": rest})).await?,
            "write" => {
                let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
                self.client("fs/write_text_file", json!({"path": path, "content": text})).await?;
            }
            "terminal" => self.terminal(rest).await?,
            "save" => {
                let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
                std::fs::write(self.path(path), text).unwrap();
                self.say("saved")?;
            }
            "unlink" => std::fs::remove_file(self.path(rest)).unwrap(),
            "image" => self.chunk(json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}))?,
            "open_tool" => self.tell(json!({
                "sessionUpdate": "tool_call", "toolCallId": "open-1", "title": "Never ends", "status": "in_progress",
            }))?,
            "early_tool" => self.tell(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": "early-1", "title": "Came first", "status": "completed",
            }))?,
            "usage" => {
                let (used, cost) = (number(), number());
                let mut update = json!({"sessionUpdate": "usage_update", "used": used, "size": 1000});
                if cost > 0 {
                    update["cost"] = json!({"amount": cost, "currency": "USD"});
                }
                self.tell(update)?;
            }
            "cost" => {
                let cost = json!({"amount": number(), "currency": "USD"});
                self.tell(json!({"sessionUpdate": "usage_update", "cost": cost}))?;
            }
            "tokens" => {
                let names =
                    ["inputTokens", "outputTokens", "thoughtTokens", "cachedReadTokens", "cachedWriteTokens"];
                let counts = rest.split(' ').filter_map(|word| word.parse::<u64>().ok());
                let counted: serde_json::Map<_, _> =
                    names.map(str::to_owned).into_iter().zip(counts.map(Value::from)).collect();
                self.usage = if counted.is_empty() { Value::Null } else { counted.into() };
            }
            "session_info" => self.tell(json!({"sessionUpdate": "session_info_update", "title": rest}))?,
            "flood" => {
                let (count, bytes) = (number(), number());
                self.flood(count, usize::try_from(bytes).unwrap()).await?;
            }
            "messages" => self.messages(number()).await?,
            "huge" => self.say(&"x".repeat(usize::try_from(number()).unwrap()))?,
            "noise" => {
                raw("this line is no message");
                raw("{\"neither\": \"is this\"}");
            }
            "print" => raw(rest),
            "babble" => {
                let (count, bytes) = (number(), usize::try_from(number()).unwrap());
                (0..count).for_each(|n| raw(&padded(n, '-', bytes)));
            }
            "unknown" => self.unknown()?,
            "duplicate" => {
                let answer = json!({"jsonrpc": "2.0", "id": self.id, "result": {"stopReason": "end_turn"}});
                raw(&answer.to_string());
            }
            "env" => self.environment(rest)?,
            "mcp" => self.say(&self.peer.get(&self.session).unwrap_or_default().mcp.to_string())?,
            "cwd" => self.say(&self.peer.get(&self.session).unwrap_or_default().cwd)?,
            "sleep" => tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(number())) => {}
                () = self.cancelled.cancelled() => {}
            },
            "wait" => self.cancelled.cancelled().await,
            "listen" => self.listen().await,
            "never" | "ignore_cancel" => return Ok(Next::Silent),
            "stderr" => eprintln!("{rest}"),
            "crash" => {
                eprintln!("crashing as asked");
                // What was told before is on its way.
                tokio::time::sleep(Duration::from_millis(50)).await;
                std::process::exit(i32::try_from(number()).unwrap());
            }
            "stop" => {
                let reasons = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
                return Ok(Next::Stop(reasons.into_iter().find(|reason| *reason == rest).unwrap_or("end_turn")));
            }
            "fail" => return Ok(Next::Fail(rest.parse().unwrap_or(-32603))),
            _ => self.say(line)?,
        }
        Ok(Next::On)
    }

    /// Waits for a word from outside, or for the end.
    async fn listen(&self) {
        let steered = || self.peer.live().get(&self.session).is_some_and(|live| !live.steered.is_empty());
        while !steered() && !self.cancelled.is_cancelled() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn tell(&self, update: Value) -> Result<()> {
        tell(&self.peer, &self.cx, &self.session, update)
    }

    fn done_with(&self, page: &str) -> Result<()> {
        let done = UntypedMessage::new("elicitation/complete", json!({"elicitationId": page}))?;
        self.cx.send_notification(done)
    }

    fn chunk(&self, content: Value) -> Result<()> {
        self.tell(json!({"sessionUpdate": "agent_message_chunk", "content": content}))
    }

    fn say(&self, text: &str) -> Result<()> {
        self.chunk(json!({"type": "text", "text": text}))
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        std::path::Path::new(&self.peer.get(&self.session).unwrap_or_default().cwd).join(path)
    }

    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("call-{}", self.calls)
    }

    async fn request(&self, method: &str, mut params: Value) -> Result<Value> {
        params["sessionId"] = self.session.clone().into();
        self.cx.send_request(UntypedMessage::new(method, params)?).block_task().await
    }

    /// Asks the client for something and says what came of it.
    async fn client(&self, method: &str, params: Value) -> Result<()> {
        match self.request(method, params).await {
            Ok(answer) => self.say(&answer.to_string()),
            Err(error) => self.say(&format!("error {} {}", i32::from(error.code), error.message)),
        }
    }

    async fn permission(&mut self, call: Value) -> Result<Next> {
        let id = self.next_call();
        let mut begun = call;
        begun["sessionUpdate"] = "tool_call".into();
        begun["toolCallId"] = id.clone().into();
        begun["status"] = "pending".into();
        self.tell(begun.clone())?;
        let option = |kind: &str| json!({"optionId": kind.replace('_', "-"), "name": kind, "kind": kind});
        begun.as_object_mut().unwrap().remove("sessionUpdate");
        let options = ["allow_once", "allow_always", "reject_once", "reject_always"].map(option);
        let asked = self
            .request("session/request_permission", json!({"toolCall": begun, "options": options}))
            .await?;
        let outcome = &asked["outcome"];
        let chosen = outcome["optionId"].as_str().unwrap_or_default();
        let done = |status: &str| {
            let text = json!({"type": "text", "text": format!("chose {chosen}")});
            let content = json!([{"type": "content", "content": text}]);
            json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content})
        };
        if outcome["outcome"] != "selected" {
            return Ok(Next::Stop("cancelled"));
        }
        let allowed = chosen.starts_with("allow");
        self.tell(done(if allowed { "completed" } else { "failed" }))?;
        self.say(&format!("{} by {chosen}", if allowed { "allowed" } else { "rejected" }))?;
        Ok(Next::On)
    }

    async fn ask(&self, question: Value) -> Result<Next> {
        let answer = self.request("elicitation/create", question).await?;
        self.say(&format!("answered {answer}"))?;
        Ok(Next::On)
    }

    async fn terminal(&mut self, line: &str) -> Result<()> {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap_or_default();
        let args: Vec<String> = words.collect();
        let created = self.request("terminal/create", json!({"command": command, "args": args})).await;
        let terminal = match created {
            Ok(created) => created["terminalId"].clone(),
            Err(error) => return self.say(&format!("error {} {}", i32::from(error.code), error.message)),
        };
        let id = self.next_call();
        self.tell(json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": line, "kind": "execute", "status": "in_progress",
            "content": [{"type": "terminal", "terminalId": terminal}],
        }))?;
        let ended = self.request("terminal/wait_for_exit", json!({"terminalId": terminal})).await?;
        let output = self.request("terminal/output", json!({"terminalId": terminal})).await?;
        self.request("terminal/release", json!({"terminalId": terminal})).await?;
        self.tell(json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}))?;
        self.say(&format!("{ended} {output}"))
    }

    fn every_update(&self) -> Result<()> {
        let text = |text: &str| json!({"type": "text", "text": text});
        for update in [
            json!({"sessionUpdate": "user_message_chunk", "content": text("what you said")}),
            json!({"sessionUpdate": "agent_thought_chunk", "content": text("thinking")}),
            json!({"sessionUpdate": "agent_message_chunk", "content": text("Hel"), "messageId": "m-1"}),
            json!({"sessionUpdate": "agent_message_chunk", "content": text("lo"), "messageId": "m-1"}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "t-1", "title": "Read a", "kind": "read",
                "status": "pending", "locations": [{"path": "/a", "line": 3}], "rawInput": {"path": "/a"}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t-1", "status": "completed",
                "content": [{"type": "content", "content": text("aaa")}], "rawOutput": {"bytes": 3}}),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [
                {"name": "review", "description": "Reviews", "input": {"hint": "what"}}]}),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
            json!({"sessionUpdate": "config_option_update", "configOptions": []}),
            json!({"sessionUpdate": "session_info_update", "title": "Updates", "updatedAt": "2026-01-01T00:00:00Z"}),
            json!({"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}),
        ] {
            self.tell(update)?;
        }
        self.plan(1, 3)
    }

    fn plan(&self, done: u64, total: u64) -> Result<()> {
        self.tell(json!({"sessionUpdate": "plan", "entries": steps(done, total)}))
    }

    fn todo(&self, done: u64, total: u64) -> Result<()> {
        let input = json!({"todos": steps(done, total)});
        self.tell(json!({"sessionUpdate": "tool_call", "toolCallId": "todo-1", "title": "todowrite", "kind": "other",
            "status": "completed", "rawInput": input}))
    }

    /// Chunks of at least so many bytes each, by way of no crate: none writes as fast.
    async fn flood(&self, count: u64, bytes: usize) -> Result<()> {
        for n in 0..count {
            let text = json!({"type": "text", "text": format!("{} ", padded(n, 'x', bytes))});
            self.shout(json!({"sessionUpdate": "agent_message_chunk", "content": text}));
            if n % 64 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Messages of one sentence each. One of 997 is about something that no other is about.
    async fn messages(&self, count: u64) -> Result<()> {
        for n in 0..count {
            let rare = if n % 997 == 0 { "parser" } else { "reader" };
            let text = format!("a common sentence about the {rare} with word {n} of many others in it");
            let text = json!({"type": "text", "text": text});
            let id = format!("m-{n}");
            self.shout(json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text}));
            if n % 64 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    fn shout(&self, update: Value) {
        let params = json!({"sessionId": self.session, "update": update});
        raw(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string());
    }

    fn unknown(&self) -> Result<()> {
        self.tell(json!({"sessionUpdate": "from_the_future", "what": [1, 2]}))?;
        self.tell(json!({
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "known"}, "extra": {"a": 1},
        }))?;
        let told =
            UntypedMessage::new("_auth/status_update", json!({"sessionId": self.session, "status": "ok"}))?;
        self.cx.send_notification(told)
    }

    fn environment(&self, names: &str) -> Result<()> {
        let mut all: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
        all.sort();
        if names.is_empty() {
            return self.say(&all.join(" "));
        }
        let shown =
            names.split(' ').map(|name| format!("{name}={}", std::env::var(name).unwrap_or_default()));
        self.say(&shown.collect::<Vec<_>>().join(" "))
    }
}

/// A number, and as much behind it as makes so many bytes. A width of the formatter ends at 65,535.
fn padded(n: u64, with: char, bytes: usize) -> String {
    let mut text = n.to_string();
    text.extend(std::iter::repeat_n(with, bytes.saturating_sub(text.len())));
    text
}

/// Entries of a plan.
fn steps(done: u64, total: u64) -> Vec<Value> {
    let step = |n| {
        let status = if n < done { "completed" } else { "pending" };
        json!({"content": format!("step {n}"), "priority": "medium", "status": status})
    };
    (0..total).map(step).collect()
}

fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "colour": {"type": "string", "title": "Colour", "enum": ["red", "blue"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 5},
            "sure": {"type": "boolean"},
            "mail": {"type": "string", "format": "email"},
        },
        "required": ["colour"],
    })
}
