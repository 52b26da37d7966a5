//! The one answer that every request of the agent gets: by a person, by expiry, by a cancelled turn, by the end of the
//! agent. It is on disk before the agent hears it.

use super::ask::Open;
use super::{Actor, Link};
use crate::agents::log::{Kind, NewEvent};
use crate::agents::requests::answer::{self, Wanted};
use crate::agents::requests::rows;
use crate::agents::rules::{Decision, OnTimeout, Subject};
use crate::agents::store::now;
use serde_json::{Value, json};
use std::time::Duration;

/// Pages that were consented to, and of which it may still be told that they are done with.
const PAGES: usize = 16;

/// What a person decided about a tool call.
#[derive(Debug, Clone)]
pub struct PermissionAnswer {
    /// What is wanted.
    pub wanted: Wanted,
    /// A word that goes with it; kept, not sent.
    pub note: Option<String>,
    /// Whether a rejection also ends the turn.
    pub cancel_turn: bool,
}

/// How a request ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A decision about a tool call.
    Permission(PermissionAnswer),
    /// An answer to a question: the action, and the content of a form.
    Question(&'static str, Option<Value>),
}

/// What came of a decision.
#[derive(Debug)]
pub enum Decided {
    /// It was the first. The agent has been told, or was gone; and what the call was about.
    Done {
        /// Whether the agent was there to be told.
        delivered: bool,
        /// Whether the call may happen.
        allows: bool,
        /// What the call was about.
        subject: Subject,
    },
    /// Somebody or something else was first.
    Resolved,
    /// The agent's options hold none that fits; these are they.
    InvalidOption(Vec<Value>),
}

impl Actor {
    pub(super) fn expire_after(&self, request_id: String, patience: Duration) {
        self.after(patience, move |actor| Box::pin(actor.expired(request_id)));
    }

    /// Nobody has answered in time, unless the time was changed meanwhile.
    async fn expired(&mut self, request_id: String) {
        if !self.open.contains_key(&request_id) {
            return;
        }
        let name = request_id.clone();
        let row = self.store.read(move |db| rows::find(db, &name)).await.ok().flatten();
        let due = row.and_then(|row| row.expires_at).is_some_and(|at| at <= now() + 0.05);
        let Some(open) = due.then(|| self.open.remove(&request_id)).flatten() else { return };
        let on_timeout = self.details.policy.on_timeout.unwrap_or_default();
        let wire = if open.question {
            json!({"action": "cancel"})
        } else if on_timeout == OnTimeout::CancelTurn {
            answer::cancelled()
        } else {
            answer::choose(&open.options, &Wanted::Reject)
                .map_or_else(|_| answer::cancelled(), |chosen| chosen.to_wire())
        };
        self.resolve(&request_id, open, "expired", None, None, wire).await;
        if on_timeout == OnTimeout::CancelTurn {
            self.cancel_running("cancelled", super::cancel::GRACE, true).await;
        }
    }

    /// Somebody answers. The first answer stands.
    pub(crate) async fn decide(&mut self, request_id: String, outcome: Outcome, by: String) -> Decided {
        let Some(open) = self.open.get(&request_id) else { return Decided::Resolved };
        let (wire, recorded, allows, cancel_turn) = match &outcome {
            Outcome::Permission(permission) => match answer::choose(&open.options, &permission.wanted) {
                Err(_) => return Decided::InvalidOption(answer::views(&open.options)),
                Ok(chosen) => {
                    let mut recorded = json!({
                        "decision": if chosen.allows { "allow" } else { "reject" },
                        "option_id": chosen.option_id,
                    });
                    if let (Some(note), Some(recorded)) = (&permission.note, recorded.as_object_mut()) {
                        recorded.insert("note".to_owned(), note.as_str().into());
                    }
                    (chosen.to_wire(), recorded, chosen.allows, permission.cancel_turn && !chosen.allows)
                }
            },
            Outcome::Question(action, content) => {
                let answer = match content {
                    Some(content) => json!({"action": action, "content": content}),
                    None => json!({"action": action}),
                };
                (answer.clone(), answer, *action == "accept", false)
            }
        };
        let Some(open) = self.open.remove(&request_id) else { return Decided::Resolved };
        let subject = open.subject.clone();
        let delivered = self.resolve(&request_id, open, "answered", Some(recorded), Some(by), wire).await;
        if cancel_turn {
            self.cancel_running("cancelled", super::cancel::GRACE, true).await;
        }
        Decided::Done { delivered, allows, subject }
    }

    /// Ends a request: first on disk, then to the agent. Whether the agent was told.
    async fn resolve(
        &mut self,
        request_id: &str,
        open: Open,
        state: &'static str,
        answer: Option<Value>,
        by: Option<String>,
        wire: Value,
    ) -> bool {
        let event = self.resolved_event(request_id, &open, state, answer.as_ref(), by.as_deref());
        let (id, at) = (request_id.to_owned(), now());
        let stored = self
            .commit(vec![event], move |db| rows::resolve(db, &id, state, answer.as_ref(), by.as_deref(), at));
        if let Err(error) = stored.await {
            crate::log::say(format_args!("the answer to `{request_id}` was not stored: {error}"));
            return false;
        }
        if let Some(elicitation) = open.elicitation_id
            && wire.get("action").and_then(Value::as_str) == Some("accept")
        {
            self.pages.truncate(PAGES - 1);
            self.pages.push_front((elicitation, request_id.to_owned()));
        }
        open.reply.send(Ok(wire)).is_ok()
    }

    fn resolved_event(
        &self,
        request_id: &str,
        open: &Open,
        state: &str,
        answer: Option<&Value>,
        by: Option<&str>,
    ) -> NewEvent {
        let kind = if open.question { Kind::QuestionResolved } else { Kind::PermissionResolved };
        let data = json!({"request_id": request_id, "state": state, "answer": answer, "answered_by": by});
        self.event(kind, data)
    }

    /// Answers every open request as cancelled. Which they were.
    pub(super) async fn cancel_requests(&mut self) -> Vec<String> {
        let mut cancelled = Vec::new();
        while let Some((request_id, open)) = self.open.pop_first() {
            let wire = if open.question { json!({"action": "cancel"}) } else { answer::cancelled() };
            self.resolve(&request_id, open, "cancelled", None, None, wire).await;
            cancelled.push(request_id);
        }
        cancelled
    }

    /// Nobody can be answered any more: the events that say so. The rows are written behind them.
    pub(super) fn lose_requests(&mut self, state: &'static str) -> Vec<NewEvent> {
        let open = std::mem::take(&mut self.open);
        let at = now();
        open.into_iter()
            .map(|(request_id, open)| {
                let event = self.resolved_event(&request_id, &open, state, None, None);
                // In the order of writes: whoever sees the event finds the row changed or changing.
                drop(tokio::spawn(
                    self.store.write(move |db| rows::resolve(db, &request_id, state, None, None, at)),
                ));
                event
            })
            .collect()
    }

    /// The agent takes back what it asked.
    pub(crate) async fn taken_back(&mut self, generation: u64, number: u64) {
        let asked = |open: &Open| open.generation == generation && open.number == number;
        let Some(id) = self.open.iter().find(|(_, open)| asked(open)).map(|(id, _)| id.clone()) else {
            return;
        };
        if let Some(open) = self.open.remove(&id) {
            self.resolve(&id, open, "cancelled", None, None, Value::Null).await;
        }
    }

    /// The event of a page that was opened by a question of URL mode and is done with; none where nobody here was asked
    /// to open it. It may be done with before the question is answered.
    pub(super) fn completed(&mut self, params: &Value) -> Option<NewEvent> {
        let elicitation = params.get("elicitationId").and_then(Value::as_str)?;
        let open = self.open.iter().find(|(_, open)| open.elicitation_id.as_deref() == Some(elicitation));
        let request_id = match open {
            Some((request_id, _)) => request_id.clone(),
            None => {
                let at = self.pages.iter().position(|(opened, _)| opened == elicitation)?;
                self.pages.remove(at)?.1
            }
        };
        let data = json!({"elicitation_id": elicitation, "request_id": request_id});
        Some(NewEvent::new(Kind::QuestionCompleted, data))
    }

    /// A stricter policy holds for what is open already, and its time for all.
    pub(super) async fn policy_changed(&mut self) {
        if self.link != Link::Live {
            return;
        }
        let permissions: Vec<String> =
            self.open.iter().filter(|(_, open)| !open.question).map(|(id, _)| id.clone()).collect();
        for request_id in permissions {
            let Some(open) = self.open.get(&request_id) else { continue };
            let verdict = self.verdict(&open.subject.clone()).await;
            if verdict.decision == Decision::Reject {
                let by = verdict.rule_id.map_or_else(|| "policy".to_owned(), |id| format!("rule:{id}"));
                let wanted = PermissionAnswer { wanted: Wanted::Reject, note: None, cancel_turn: false };
                self.decide(request_id, Outcome::Permission(wanted), by).await;
            }
        }
        let patience = self.details.policy.patience();
        let at = self.details.policy.timeout_seconds.map(|seconds| now() + seconds);
        let open: Vec<String> = self.open.keys().cloned().collect();
        for request_id in open {
            let id = request_id.clone();
            // A time that is not stored is one that never comes; the request stays open.
            let stored = self.store.write(move |db| rows::expire_at(db, &id, at)).await;
            if let (Ok(()), Some(patience)) = (stored, patience) {
                self.expire_after(request_id, patience);
            }
        }
    }
}
