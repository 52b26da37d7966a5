//! Requests of the agent: answered by a rule at once, or open until somebody answers. Each is on disk before anybody can
//! answer it.

use super::Actor;
use crate::agents::acp::{Asked, RpcFault};
use crate::agents::ids;
use crate::agents::log::{Kind, NewEvent, tool_call};
use crate::agents::requests::answer::{self, Chosen, Wanted};
use crate::agents::requests::rows::{self, RequestRow};
use crate::agents::rules::matching::Caller;
use crate::agents::rules::{Decision, Subject, Verdict, judge, rows as rules};
use crate::agents::sessions::client;
use crate::agents::sessions::ear::Reply;
use crate::agents::store::now;
use serde_json::{Map, Value, json};
use std::path::Path;

/// A request that waits.
pub(super) struct Open {
    pub(super) generation: u64,
    pub(super) number: u64,
    pub(super) reply: Reply,
    pub(super) question: bool,
    pub(super) options: Vec<Value>,
    pub(super) subject: Subject,
    pub(super) elicitation_id: Option<String>,
}

impl Actor {
    /// The agent asks.
    pub(super) async fn asked(&mut self, number: u64, asked: Asked, reply: Reply) {
        match asked.method.as_str() {
            "session/request_permission" => self.asked_permission(number, &asked.params, reply).await,
            "elicitation/create" => self.asked_question(number, &asked.params, reply).await,
            method if method.starts_with("fs/") || method.starts_with("terminal/") => {
                client::serve(self, asked, reply);
            }
            method => drop(reply.send(Err(RpcFault::no_method(method)))),
        }
    }

    async fn asked_permission(&mut self, number: u64, params: &Value, reply: Reply) {
        let call = params.get("toolCall").cloned().unwrap_or_default();
        let options = params.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
        let subject = Subject::of(&call, Path::new(&self.row.cwd));
        let verdict = self.verdict(&subject).await;
        let wanted = match verdict.decision {
            Decision::Allow => Some(Wanted::Allow),
            Decision::Reject => Some(Wanted::Reject),
            Decision::Ask => None,
        };
        // An agent that offers nothing for just once is not given more than that by a rule: a person decides.
        let chosen = wanted.and_then(|wanted| answer::choose(&options, &wanted).ok());
        let shown = tool_call(&call);
        let title = if subject.title.is_empty() { "Tool call".to_owned() } else { subject.title.clone() };
        let mut body = Map::new();
        for name in ["tool_kind", "raw_input", "locations"] {
            if let Some(value) = shown.get(name) {
                body.insert(name.to_owned(), value.clone());
            }
        }
        let diffs = diffs(&call);
        if !diffs.is_empty() {
            body.insert("diffs".to_owned(), diffs.into());
        }
        body.insert("options".to_owned(), answer::views(&options).into());
        let tool_call_id = shown.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
        let row = self.request_row("permission", title, tool_call_id, body);
        let asked = json!({
            "request_id": row.request_id, "title": row.title, "tool_call": shown,
            "options": row.body.get("options"), "expires_at": row.expires_at,
        });
        let events = vec![self.event(Kind::PermissionRequested, asked).raw(call)];
        let open = Open {
            generation: self.generation,
            number,
            reply,
            question: false,
            options,
            subject,
            elicitation_id: None,
        };
        match chosen {
            Some(chosen) => self.answered_by_rule(row, open, events, &chosen, verdict).await,
            None => self.wait_for_somebody(row, open, events).await,
        }
    }

    /// All standing rules and the policy against a call. Where the rules cannot be read, a person is asked.
    pub(super) async fn verdict(&self, subject: &Subject) -> Verdict {
        let at = now();
        let rules = self.store.read(move |db| rules::all(db, at)).await;
        let rules: Result<Vec<_>, String> = rules
            .map_err(|error| error.to_string())
            .and_then(|rows| rows.iter().map(rules::RuleRow::compile).collect());
        match rules {
            Ok(rules) => {
                let caller = Caller {
                    session_id: &self.row.session_id,
                    agent_id: &self.row.agent_id,
                    cwd: Path::new(&self.row.cwd),
                };
                judge(&rules, &self.details.policy, caller, subject, at)
            }
            Err(error) => {
                crate::log::say(format_args!("the rules could not be read: {error}"));
                Verdict {
                    decision: Decision::Ask,
                    rule_id: None,
                    why: "the rules could not be read".to_owned(),
                }
            }
        }
    }

    async fn answered_by_rule(
        &mut self,
        mut row: RequestRow,
        open: Open,
        mut events: Vec<NewEvent>,
        chosen: &Chosen,
        verdict: Verdict,
    ) {
        let by = verdict.rule_id.as_ref().map_or_else(|| "policy".to_owned(), |id| format!("rule:{id}"));
        let answer = json!({
            "decision": if chosen.allows { "allow" } else { "reject" },
            "option_id": chosen.option_id, "why": verdict.why,
        });
        row.state = "answered".to_owned();
        row.answer = Some(answer.clone());
        row.answered_by = Some(by.clone());
        row.answered_at = Some(row.opened_at);
        let mut resolved =
            json!({"request_id": row.request_id, "state": "answered", "answered_by": by, "answer": answer});
        if let (Some(id), Some(resolved)) = (&verdict.rule_id, resolved.as_object_mut()) {
            resolved.insert("rule_id".to_owned(), id.as_str().into());
        }
        events.push(self.event(Kind::PermissionResolved, resolved));
        let (at, rule_id) = (row.opened_at, verdict.rule_id);
        let stored = self.commit(events, move |db| {
            rows::insert(db, &row)?;
            rule_id.map_or(Ok(()), |id| rules::hit(db, &id, at))
        });
        match stored.await {
            Ok(()) => drop(open.reply.send(Ok(chosen.to_wire()))),
            // What cannot be written down must not happen.
            Err(_) => drop(open.reply.send(Ok(answer::cancelled()))),
        }
    }

    async fn asked_question(&mut self, number: u64, params: &Value, reply: Reply) {
        let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = text("message").unwrap_or_default();
        let mut body = Map::new();
        body.insert("message".to_owned(), message.clone().into());
        let mode = text("mode").unwrap_or_else(|| "form".to_owned());
        match (mode.as_str(), params.get("requestedSchema"), text("url")) {
            ("form", Some(schema), _) => drop(body.insert("schema".to_owned(), schema.clone())),
            ("url", _, Some(url)) => drop(body.insert("url".to_owned(), url.into())),
            _ => {
                let why = "a form needs `requestedSchema`, a URL needs `url`";
                return drop(reply.send(Err(RpcFault::invalid_params(why))));
            }
        }
        body.insert("mode".to_owned(), mode.into());
        let title: String = message.lines().next().unwrap_or("Question").chars().take(200).collect();
        let row = self.request_row("question", title, text("toolCallId"), body);
        let asked = json!({
            "request_id": row.request_id, "message": message, "mode": row.body.get("mode"),
            "schema": row.body.get("schema"), "url": row.body.get("url"),
            "tool_call_id": row.tool_call_id, "expires_at": row.expires_at,
        });
        let events = vec![self.event(Kind::QuestionAsked, asked)];
        let open = Open {
            generation: self.generation,
            number,
            reply,
            question: true,
            options: Vec::new(),
            subject: Subject::default(),
            elicitation_id: text("elicitationId"),
        };
        self.wait_for_somebody(row, open, events).await;
    }

    fn request_row(
        &self,
        kind: &str,
        title: String,
        tool_call_id: Option<String>,
        body: Map<String, Value>,
    ) -> RequestRow {
        let at = now();
        RequestRow {
            request_id: ids::new(ids::REQUEST),
            session: self.row.no,
            turn_id: self.running.as_ref().map(|running| running.row.turn_id.clone()),
            kind: kind.to_owned(),
            state: "pending".to_owned(),
            title,
            tool_call_id,
            body,
            opened_at: at,
            expires_at: self.details.policy.timeout_seconds.map(|seconds| at + seconds),
            ..RequestRow::default()
        }
    }

    async fn wait_for_somebody(&mut self, row: RequestRow, open: Open, events: Vec<NewEvent>) {
        // A turn that is being cancelled asks nobody any more.
        if self.running.as_ref().is_some_and(super::prompt::Running::is_cancelled) {
            let answer = if open.question { json!({"action": "cancel"}) } else { answer::cancelled() };
            return drop(open.reply.send(Ok(answer)));
        }
        let request_id = row.request_id.clone();
        if let Err(error) = self.commit(events, move |db| rows::insert(db, &row)).await {
            let fault = RpcFault::new(crate::agents::acp::code::INTERNAL, error.to_string());
            return drop(open.reply.send(Err(fault)));
        }
        if let Some(patience) = self.details.policy.patience() {
            self.expire_after(request_id.clone(), patience);
        }
        self.open.insert(request_id, open);
    }
}

/// The differences that a tool call would make.
fn diffs(call: &Value) -> Vec<Value> {
    let content = call.get("content").and_then(Value::as_array).into_iter().flatten();
    let diff = |part: &Value| {
        (part.get("type").and_then(Value::as_str) == Some("diff")).then(|| {
            json!({"path": part.get("path"), "old_text": part.get("oldText"), "new_text": part.get("newText")})
        })
    };
    content.filter_map(diff).collect()
}
