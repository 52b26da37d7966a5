//! Which event does what to which item.

use super::item::ItemKind;
use super::tool;
use super::working::Working;
use crate::agents::log::Kind;
use serde_json::{Value, json};

/// A chunk that adds to a message. One without content does not: some agents send empty ones.
pub(super) struct Chunk<'a> {
    pub(super) kind: ItemKind,
    pub(super) message_id: Option<&'a str>,
    /// Its text, or
    text: Option<&'a str>,
    /// its block.
    block: &'a Value,
}

pub(super) fn chunk(data: &Value) -> Option<Chunk<'_>> {
    let kind = ItemKind::of_role(data.get("role")?.as_str()?)?;
    let block = data.get("content")?;
    let plain = block.get("type").and_then(Value::as_str) == Some("text");
    let text = block.get("text").and_then(Value::as_str).filter(|_| plain);
    if text.is_some_and(str::is_empty) {
        return None;
    }
    Some(Chunk { kind, message_id: key_of(data, "message_id", "messageId"), text, block })
}

/// A member that names something, under our name or the agent's.
pub(super) fn key_of<'a>(data: &'a Value, ours: &str, theirs: &str) -> Option<&'a str> {
    data.get(ours).or_else(|| data.get(theirs)).and_then(Value::as_str).filter(|key| !key.is_empty())
}

impl Working<'_> {
    /// Reduces one event, whose number is `seq` at the least.
    pub(in crate::agents) fn reduce(
        &mut self,
        seq: i64,
        ts: f64,
        turn: Option<&str>,
        kind: Kind,
        data: &Value,
    ) -> rusqlite::Result<()> {
        match kind {
            Kind::MessageChunk => self.message(seq, ts, turn, data),
            Kind::MessageCompleted => self.completed(turn, ts, data),
            Kind::ToolCallCreated => self.tool_call(seq, ts, turn, data, true),
            Kind::ToolCallUpdated => self.tool_call(seq, ts, turn, data, false),
            Kind::PlanUpdated => self.plan(seq, ts, turn, data),
            Kind::PermissionRequested => {
                // Some agents name a call for the first time when they ask.
                if let Some(call) = data.get("tool_call").or_else(|| data.get("toolCall")) {
                    self.tool_call(seq, ts, turn, &crate::agents::log::tool_call(call), false)?;
                }
                self.asked(ItemKind::Permission, seq, ts, turn, data)
            }
            Kind::QuestionAsked => self.asked(ItemKind::Question, seq, ts, turn, data),
            Kind::PermissionResolved => self.resolved(ItemKind::Permission, seq, ts, data),
            Kind::QuestionResolved => self.resolved(ItemKind::Question, seq, ts, data),
            Kind::TerminalOutput | Kind::TerminalExited => self.terminal(data),
            Kind::TurnCompleted | Kind::TurnCancelled | Kind::TurnFailed | Kind::TurnInterrupted => {
                self.turn_ended(turn, ts);
                Ok(())
            }
            Kind::SessionClosed => {
                self.end(ts, |_| true);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn message(&mut self, seq: i64, ts: f64, turn: Option<&str>, data: &Value) -> rusqlite::Result<()> {
        let Some(chunk) = chunk(data) else { return Ok(()) };
        let found = match chunk.message_id {
            Some(key) => self.find(chunk.kind, key, Some(turn))?,
            None => self.slots.iter().rposition(|slot| {
                let item = &slot.item;
                item.open && item.kind == chunk.kind && item.key.is_none() && item.turn_id.as_deref() == turn
            }),
        };
        let at = found.unwrap_or_else(|| self.create(chunk.kind, chunk.message_id, turn, seq, ts));
        let Some(slot) = self.touch(at, seq) else { return Ok(()) };
        if !slot.item.open {
            slot.reopen();
        }
        match chunk.text {
            Some(text) => {
                if !slot.add(text)
                    && let Some(body) = self.body(at)?
                {
                    body.insert("truncated".to_owned(), true.into());
                }
            }
            None => {
                let place = slot.item.text_bytes;
                let block = json!({"at": place, "block": chunk.block});
                if let Some(body) = self.body(at)? {
                    push(body, "content", block);
                }
            }
        }
        Ok(())
    }

    fn completed(&mut self, turn: Option<&str>, ts: f64, data: &Value) -> rusqlite::Result<()> {
        let role = data.get("role").and_then(Value::as_str).and_then(ItemKind::of_role);
        let key = key_of(data, "message_id", "messageId");
        for slot in self.slots.iter_mut().filter(|slot| slot.item.open && slot.item.kind.role().is_some()) {
            let item = &slot.item;
            if role.is_none_or(|kind| kind == item.kind)
                && item.key.as_deref() == key
                && item.turn_id.as_deref() == turn
            {
                slot.close(ts);
            }
        }
        Ok(())
    }

    fn tool_call(
        &mut self,
        seq: i64,
        ts: f64,
        turn: Option<&str>,
        data: &Value,
        created: bool,
    ) -> rusqlite::Result<()> {
        let Some(key) = key_of(data, "tool_call_id", "toolCallId") else { return Ok(()) };
        let at = match self.call(created, turn, data)? {
            Some(at) => at,
            None => {
                let at = self.create(ItemKind::ToolCall, Some(key), turn, seq, ts);
                if let Some(slot) = self.touch(at, seq) {
                    slot.item.status = Some("pending".to_owned());
                }
                at
            }
        };
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(slot) = self.touch(at, seq) else { return Ok(()) };
        slot.item.title = text("title").or(slot.item.title.take());
        slot.item.tool_kind = text("tool_kind").or(slot.item.tool_kind.take());
        if let Some(status) = text("status") {
            // What its turn has left behind, or another turn speaks of, begins no more.
            let over = slot.item.status.as_deref() == Some("unsettled")
                || (!slot.item.open && slot.item.turn_id.as_deref() != turn);
            match is_settled(&status) {
                true => slot.close(ts),
                false if over => {}
                false => slot.reopen(),
            }
            if slot.item.open || is_settled(&status) {
                slot.item.status = Some(status);
            }
        }
        let members = tool::BODY.iter().filter_map(|name| Some((*name, data.get(name)?)));
        let members: Vec<(&str, &Value)> = members.filter(|(_, value)| !value.is_null()).collect();
        if !members.is_empty()
            && let Some(body) = self.body(at)?
        {
            for (name, value) in members {
                body.insert(name.to_owned(), value.clone());
            }
        }
        Ok(())
    }

    /// The call that an event is about. A call of an earlier turn that is over is meant by late news of it, not by what
    /// begins: some agents count their calls anew in each turn.
    pub(super) fn call(
        &mut self,
        created: bool,
        turn: Option<&str>,
        data: &Value,
    ) -> rusqlite::Result<Option<usize>> {
        let Some(key) = key_of(data, "tool_call_id", "toolCallId") else { return Ok(None) };
        let found = self.find(ItemKind::ToolCall, key, created.then_some(turn))?;
        let begins = match data.get("status").and_then(Value::as_str) {
            Some(status) => !is_settled(status),
            None => data.get("title").is_some_and(Value::is_string),
        };
        let is_other = |at: &usize| {
            let over = |item: &super::Item| !item.open && item.turn_id.as_deref() != turn;
            turn.is_some() && begins && self.slots.get(*at).is_some_and(|slot| over(&slot.item))
        };
        Ok(found.filter(|at| !is_other(at)))
    }

    fn plan(&mut self, seq: i64, ts: f64, turn: Option<&str>, data: &Value) -> rusqlite::Result<()> {
        let found = self.find(ItemKind::Plan, "plan", Some(turn))?;
        let at = found.unwrap_or_else(|| self.create(ItemKind::Plan, Some("plan"), turn, seq, ts));
        let Some(slot) = self.touch(at, seq) else { return Ok(()) };
        slot.reopen();
        let entries = data.get("entries").cloned().unwrap_or_else(|| json!([]));
        if let Some(body) = self.body(at)? {
            body.insert("entries".to_owned(), entries);
        }
        Ok(())
    }

    fn asked(
        &mut self,
        kind: ItemKind,
        seq: i64,
        ts: f64,
        turn: Option<&str>,
        data: &Value,
    ) -> rusqlite::Result<()> {
        let Some(key) = key_of(data, "request_id", "requestId") else { return Ok(()) };
        let found = self.find(kind, key, None)?;
        let at = found.unwrap_or_else(|| self.create(kind, Some(key), turn, seq, ts));
        let Some(slot) = self.touch(at, seq) else { return Ok(()) };
        let call = data.get("tool_call").or_else(|| data.get("toolCall"));
        let title = data.get("title").or_else(|| data.get("message")).or_else(|| call?.get("title"));
        slot.item.title = title.and_then(Value::as_str).map(str::to_owned);
        slot.item.status = Some("pending".to_owned());
        if let Some(body) = self.body(at)? {
            body.insert("request".to_owned(), data.clone());
        }
        Ok(())
    }

    fn resolved(&mut self, kind: ItemKind, seq: i64, ts: f64, data: &Value) -> rusqlite::Result<()> {
        let Some(key) = key_of(data, "request_id", "requestId") else { return Ok(()) };
        let Some(at) = self.find(kind, key, None)? else { return Ok(()) };
        let Some(slot) = self.touch(at, seq) else { return Ok(()) };
        let status =
            ["state", "status", "outcome", "action"].into_iter().find_map(|name| data.get(name)?.as_str());
        slot.item.status = Some(status.unwrap_or("answered").to_owned());
        slot.close(ts);
        if let Some(body) = self.body(at)? {
            body.insert("answer".to_owned(), data.clone());
        }
        Ok(())
    }

    fn turn_ended(&mut self, turn: Option<&str>, ts: f64) {
        self.end(ts, |item| item.turn_id.is_none() || item.turn_id.as_deref() == turn);
    }

    /// Closes what is still open: calls that nobody has settled, requests that nobody has answered.
    fn end(&mut self, ts: f64, belongs: impl Fn(&super::Item) -> bool) {
        for slot in self.slots.iter_mut().filter(|slot| slot.item.open && belongs(&slot.item)) {
            match slot.item.kind {
                ItemKind::ToolCall => slot.item.status = Some("unsettled".to_owned()),
                ItemKind::Permission | ItemKind::Question => slot.item.status = Some("lost".to_owned()),
                _ => {}
            }
            slot.close(ts);
        }
    }
}

fn is_settled(status: &str) -> bool {
    !matches!(status, "pending" | "in_progress")
}

fn push(body: &mut serde_json::Map<String, Value>, name: &str, value: Value) {
    match body.get_mut(name).and_then(Value::as_array_mut) {
        Some(values) => values.push(value),
        None => {
            body.insert(name.to_owned(), json!([value]));
        }
    }
}
