//! What an agent says in pieces, on its way into the log: secrets are taken out of the messages, not of the pieces.
//!
//! The end of a piece that may begin a secret is put before the next piece of the same message, and where there is none,
//! it is told as a piece of its own before whatever ends the message. Everything else passes at once and in order.

use crate::agents::credentials::{Masks, Seam};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Tool calls that are remembered: news of them does not end a message.
const CALLS: usize = 64;

/// The messages of one session.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// Those of which something is held back.
    messages: Vec<Message>,
    calls: VecDeque<String>,
    planned: bool,
}

#[derive(Debug)]
struct Message {
    /// `sessionUpdate` of its pieces.
    name: String,
    id: Option<String>,
    seam: Seam,
}

impl Speech {
    /// Takes an update; `told` gets what is to be told now.
    pub(super) fn hear(&mut self, masks: &Masks, mut update: Value, told: &mut Vec<Value>) {
        let name = text(&update, "sessionUpdate").unwrap_or_default();
        let Some(content) = update.get("content").filter(|_| is_piece(name)) else {
            if self.begins(name, &update) {
                self.end(masks, told);
            }
            told.push(update);
            return;
        };
        let (name, id) = (name.to_owned(), text(&update, "messageId").map(str::to_owned));
        let piece = text(content, "text").filter(|_| text(content, "type") == Some("text"));
        self.others_end(masks, &name, id.as_deref(), piece.is_some(), told);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return told.push(update) };
        let at = self.messages.iter().position(|message| message.name == name && message.id == id);
        let mut message = match at {
            Some(at) => self.messages.swap_remove(at),
            None => Message { name, id, seam: Seam::default() },
        };
        let sure = message.seam.push(masks, piece);
        let silent = sure.is_empty();
        if sure != piece {
            let sure = sure.into_owned();
            if let Some(text) = update.pointer_mut("/content/text") {
                *text = sure.into();
            }
        }
        if !message.seam.is_empty() {
            self.messages.push(message);
        }
        // A piece that says nothing more than what is held back will be told with the rest.
        if !(silent && is_plain(&update)) {
            told.push(update);
        }
    }

    /// Every message has ended.
    pub(super) fn end(&mut self, masks: &Masks, told: &mut Vec<Value>) {
        told.extend(self.messages.drain(..).map(|message| message.rest(masks)));
    }

    /// A turn is over: the next one counts its tool calls anew.
    pub(super) fn forget(&mut self) {
        self.calls.clear();
        self.planned = false;
    }

    /// Whether something is held back.
    pub(super) fn is_holding(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Whether an update begins something that is no message, which ends those that there are.
    fn begins(&mut self, name: &str, update: &Value) -> bool {
        match name {
            "plan" => !std::mem::replace(&mut self.planned, true),
            "tool_call" | "tool_call_update" => {
                let Some(id) = text(update, "toolCallId") else { return false };
                if self.calls.iter().any(|call| call == id) {
                    return false;
                }
                self.calls.push_back(id.to_owned());
                if self.calls.len() > CALLS {
                    self.calls.pop_front();
                }
                true
            }
            _ => false,
        }
    }

    /// A piece of one message ends others, as the transcript has it: one without an id ends with a piece of another role or
    /// with one that has an id, one with an id with a piece of its role that has another. What is no text is
    /// told in its place.
    fn others_end(
        &mut self,
        masks: &Masks,
        name: &str,
        id: Option<&str>,
        is_text: bool,
        told: &mut Vec<Value>,
    ) {
        let goes_on = |message: &Message| match (message.id.as_deref(), id) {
            (None, None) => message.name == name && is_text,
            (None, Some(_)) => false,
            (Some(held), now) => message.name != name || (now == Some(held) && is_text),
        };
        let ended = self.messages.extract_if(.., |message| !goes_on(message));
        told.extend(ended.map(|message| message.rest(masks)));
    }
}

impl Message {
    fn rest(mut self, masks: &Masks) -> Value {
        let content = json!({"type": "text", "text": self.seam.end(masks)});
        let mut update = json!({"sessionUpdate": self.name, "content": content});
        if let (Some(id), Some(members)) = (self.id, update.as_object_mut()) {
            members.insert("messageId".to_owned(), id.into());
        }
        update
    }
}

/// Takes secrets out of what is told, but for the text of a piece, of which more is to come.
pub(super) fn mask(masks: &Masks, params: &mut Value) {
    let piece = piece_of(params).map(Value::take);
    masks.mask_json(params);
    if let Some(piece) = piece
        && let Some(text) = params.pointer_mut(TEXT)
    {
        *text = piece;
    }
}

/// Where a piece has its text.
const TEXT: &str = "/update/content/text";

fn piece_of(params: &mut Value) -> Option<&mut Value> {
    let update = params.get("update")?;
    let spoken = is_piece(text(update, "sessionUpdate")?) && text(update.get("content")?, "type")? == "text";
    params.pointer_mut(TEXT).filter(|text| spoken && text.is_string())
}

fn is_piece(name: &str) -> bool {
    matches!(name, "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk")
}

/// Whether a piece says nothing but its text.
fn is_plain(update: &Value) -> bool {
    let only = |value: Option<&Value>, names: &[&str]| {
        value
            .and_then(Value::as_object)
            .is_some_and(|members| members.keys().all(|name| names.contains(&name.as_str())))
    };
    only(Some(update), &["sessionUpdate", "content", "messageId"])
        && only(update.get("content"), &["type", "text"])
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
