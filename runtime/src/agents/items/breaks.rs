//! Which event ends which message. Messages without an id are runs of chunks: whatever begins something new ends them.

use super::item::ItemKind;
use super::reduce::{chunk, key_of};
use super::working::Working;
use crate::agents::log::Kind;
use serde_json::{Value, json};

impl Working<'_> {
    /// Closes the messages that this event ends, and yields the data of their `message.completed`, with their turns.
    pub(in crate::agents) fn closed_by(
        &mut self,
        kind: Kind,
        turn: Option<&str>,
        data: &Value,
        ts: f64,
    ) -> rusqlite::Result<Vec<(Option<String>, Value)>> {
        match kind {
            Kind::MessageChunk => {
                let Some(chunk) = chunk(data) else { return Ok(Vec::new()) };
                let goes_on = |item: &super::Item| {
                    let same_turn = item.turn_id.as_deref() == turn;
                    match (item.key.as_deref(), chunk.message_id) {
                        (None, None) => item.kind == chunk.kind && same_turn,
                        (None, Some(_)) => false,
                        (Some(_), None) => item.kind != chunk.kind && same_turn,
                        // Messages of several roles may come side by side.
                        (Some(held), Some(named)) => same_turn && (item.kind != chunk.kind || held == named),
                    }
                };
                Ok(self.close_messages(ts, goes_on))
            }
            Kind::ToolCallCreated | Kind::ToolCallUpdated => {
                let known = key_of(data, "tool_call_id", "toolCallId").is_none()
                    || self.call(kind == Kind::ToolCallCreated, turn, data)?.is_some();
                Ok(self.close_messages(ts, |_| known))
            }
            Kind::PlanUpdated => {
                let known = self.find(ItemKind::Plan, "plan", Some(turn))?.is_some();
                Ok(self.close_messages(ts, |_| known))
            }
            Kind::PermissionRequested
            | Kind::QuestionAsked
            | Kind::TurnStarted
            | Kind::TurnCompleted
            | Kind::TurnCancelled
            | Kind::TurnFailed
            | Kind::TurnInterrupted
            | Kind::SessionClosed => Ok(self.close_messages(ts, |_| false)),
            _ => Ok(Vec::new()),
        }
    }

    fn close_messages(
        &mut self,
        ts: f64,
        goes_on: impl Fn(&super::Item) -> bool,
    ) -> Vec<(Option<String>, Value)> {
        let mut closed = Vec::new();
        for slot in &mut self.slots {
            let Some(role) = slot.item.kind.role().filter(|_| slot.item.open && !goes_on(&slot.item)) else {
                continue;
            };
            slot.close(ts);
            let item = &slot.item;
            let mut data = json!({"item_id": item.item_id, "role": role, "text_bytes": item.text_bytes});
            if let (Some(members), Some(key)) = (data.as_object_mut(), &item.key) {
                members.insert("message_id".to_owned(), key.clone().into());
            }
            closed.push((item.turn_id.clone(), data));
        }
        closed
    }
}
