//! What the agent says: updates become events; requests and the end go their own ways.

use super::Actor;
use super::begin::Replay;
use crate::agents::acp::{Ended, Noise};
use crate::agents::log::{Kind, NewEvent, of_update};
use crate::agents::plan::{self, Plan, Source};
use crate::agents::sessions::ear::{Frame, Said};
use crate::agents::sessions::state::Link;
use crate::agents::store::now;
use crate::agents::turns;
use serde_json::{Value, json};
use std::time::Duration;

/// How long a message outside a turn may pause.
const SILENCE: Duration = Duration::from_secs(1);

impl Actor {
    /// Hears everything of a batch, in order. Updates that follow one another are written at once.
    pub(super) async fn hear(&mut self, batch: Vec<Frame>) {
        let mut events = Vec::with_capacity(batch.len());
        let mut plans = Vec::new();
        for frame in batch {
            // Of a process that serves the session no more. A request that is dropped is answered by its end.
            if frame.generation != self.generation {
                continue;
            }
            match frame.said {
                Said::Told { method, params, .. } => self.told(&method, params, &mut events, &mut plans),
                Said::Printed { process_id, noise } => events.push(self.printed(process_id, noise)),
                Said::Asked { number, asked, reply } => {
                    if matches!(asked.method.as_str(), "session/request_permission" | "elicitation/create") {
                        events.extend(self.rest());
                    }
                    self.tell(std::mem::take(&mut events), std::mem::take(&mut plans)).await;
                    self.asked(number, asked, reply).await;
                }
                Said::Closed(ended) => {
                    self.tell(std::mem::take(&mut events), std::mem::take(&mut plans)).await;
                    self.lost(&ended).await;
                }
            }
        }
        let usage = events.iter().any(|event| event.kind == Kind::UsageUpdated);
        self.tell(events, plans).await;
        self.speak_out_soon();
        if usage {
            self.check_budget().await;
        }
    }

    /// Writes events, and the plans that came with them.
    async fn tell(&mut self, events: Vec<NewEvent>, plans: Vec<Plan>) {
        if events.is_empty() {
            return;
        }
        let session = self.row.no;
        let stored = self.commit(events, move |db| {
            plans.iter().try_for_each(|plan| plan::rows::push(db, session, plan).map(|_| ()))
        });
        if let Err(error) = stored.await {
            crate::log::say(format_args!("events of `{}` were not stored: {error}", self.row.session_id));
        }
    }

    fn told(&mut self, method: &str, mut params: Value, events: &mut Vec<NewEvent>, plans: &mut Vec<Plan>) {
        let of_turn = |actor: &Self, mut event: NewEvent| {
            event.turn_id = actor.running.as_ref().map(|running| running.row.turn_id.clone());
            event
        };
        if method != "session/update" {
            let completed = (method == "elicitation/complete").then(|| self.completed(&params)).flatten();
            let event = completed.unwrap_or_else(|| {
                NewEvent::new(Kind::Ext, json!({"type": "notification", "method": method, "params": params}))
            });
            events.push(of_turn(self, event));
            return;
        }
        let update = params.get_mut("update").map(Value::take).unwrap_or_default();
        plans.extend(self.take(&update));
        match &mut self.replay {
            Replay::None => {}
            Replay::Counted(count) => return *count += 1,
            Replay::Imported(count) => *count += 1,
        }
        let mut told = Vec::with_capacity(1);
        self.speech.hear(&self.app.agents.masks, update, &mut told);
        events.extend(told.into_iter().flat_map(|update| self.events_of(update)));
    }

    /// The events of one update.
    fn events_of(&self, update: Value) -> Vec<NewEvent> {
        let mut events = of_update(update);
        for event in &mut events {
            event.turn_id = self.running.as_ref().map(|running| running.row.turn_id.clone());
            if matches!(self.replay, Replay::Imported(_))
                && let Some(data) = event.data.as_object_mut()
            {
                data.insert("source".to_owned(), "replay".into());
            }
        }
        events
    }

    /// The event of what is no message.
    fn printed(&self, process_id: String, noise: Noise) -> NewEvent {
        let Noise { text, lines, bytes, truncated } = noise;
        let data = json!({"process_id": process_id, "text": text, "lines": lines, "bytes": bytes, "truncated": truncated});
        self.event(Kind::ProcessNoise, data)
    }

    /// What is held back of messages, which have ended.
    fn rest(&mut self) -> Vec<NewEvent> {
        let mut told = Vec::new();
        self.speech.end(&self.app.agents.masks, &mut told);
        told.into_iter().flat_map(|update| self.events_of(update)).collect()
    }

    /// Writes what is held back of messages.
    pub(super) async fn speak_out(&mut self) {
        let events = self.rest();
        self.say(events).await;
    }

    /// Outside a turn nothing says when a message ends: if nothing more comes for a while, it has.
    fn speak_out_soon(&mut self) {
        if self.running.is_none() && self.speech.is_holding() {
            self.after(SILENCE, |actor| {
                Box::pin(async {
                    if actor.running.is_none() {
                        actor.speak_out().await;
                    }
                })
            });
        }
    }

    /// Takes over what an update changes about the session itself; a plan, where it is one.
    fn take(&mut self, update: &Value) -> Option<Plan> {
        let plan = |entries, source| Plan { entries, source, updated_at: now() };
        match update.get("sessionUpdate").and_then(Value::as_str)? {
            "config_option_update" => {
                self.options.take_config(update);
                self.touch();
            }
            "current_mode_update" => {
                if let Some(mode) = update.get("currentModeId").and_then(Value::as_str) {
                    self.options.take_mode(mode);
                    self.touch();
                }
            }
            "available_commands_update" => {
                self.options.take_commands(update);
                self.touch();
            }
            "session_info_update" => {
                // A title that a person gave stays.
                if let Some(title) = update.get("title").and_then(Value::as_str)
                    && self.row.title.is_none()
                {
                    self.row.title = Some(title.to_owned());
                    self.touch();
                }
            }
            "usage_update" => {
                self.details.spent.take_cost(update);
                self.touch();
            }
            "plan" => return plan::of_update(update).map(|entries| plan(entries, Source::Plan)),
            "tool_call" | "tool_call_update" => {
                return plan::of_tool_call(update).map(|entries| plan(entries, Source::TodoTool));
            }
            _ => {}
        }
        None
    }

    /// The agent has ended, whoever ended it.
    pub(super) async fn lost(&mut self, ended: &Ended) {
        // At shutdown everything ends: what ran is marked by the next start.
        if self.app.stopping.is_cancelled() {
            return;
        }
        self.speak_out().await;
        let process_id = self.process.take().map(|process| process.id.clone());
        self.generation += 1;
        self.replay = Replay::None;
        let mut events = vec![self.event(
            Kind::ProcessExited,
            json!({"process_id": process_id, "exit_code": ended.exit_code, "signal": ended.signal}),
        )];
        events.extend(self.lose_requests("lost"));
        self.say(events).await;
        if self.link == Link::Live {
            self.link = Link::Gone;
        }
        self.details.process_id = None;
        if self.running.is_some() {
            let forced = self.running.as_ref().and_then(|running| running.ending());
            let (state, reason) = match forced {
                Some(reason) => (turns::CANCELLED, reason),
                None => (turns::INTERRUPTED, "agent_exit"),
            };
            let error = json!({"exit_code": ended.exit_code, "signal": ended.signal});
            let error = (state == turns::INTERRUPTED).then_some(error);
            if let Some(turn_id) = self.turn_id().map(str::to_owned) {
                tokio::spawn(self.look_at_what_is_left(turn_id));
            }
            self.end_turn(state, Some(reason), error, None).await;
        }
        self.terminals.end_all();
        self.seat = None;
        self.touch();
    }
}
