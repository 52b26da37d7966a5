//! Pieces of one thing as one event: chunks of a message, output of a terminal. Used when old events are trimmed and
//! where a follower wants fewer of them.

use super::{Event, Kind};
use serde_json::{Map, Value};

/// The text of an event that can be joined, and what must be equal for that.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// The data without its text.
    pub(super) frame: Map<String, Value>,
    pub(super) text: String,
    /// The number of its first piece.
    pub(super) first: i64,
}

impl Piece {
    /// Plain text of a message, or output of a terminal.
    pub(super) fn of(kind: Kind, data: &str, seq: i64) -> Option<Self> {
        if !kind.is_chunk() {
            return None;
        }
        let mut frame: Map<String, Value> = serde_json::from_str(data).ok()?;
        let first = frame.remove("from_seq").and_then(|first| first.as_i64()).unwrap_or(seq);
        let text = match kind {
            Kind::TerminalOutput => frame.remove("data")?,
            _ => {
                let content = frame.get_mut("content")?.as_object_mut()?;
                if content.get("type").and_then(Value::as_str) != Some("text") {
                    return None;
                }
                content.remove("text")?
            }
        };
        let Value::String(text) = text else { return None };
        Some(Self { kind, frame, text, first })
    }

    /// Whether another belongs to the same thing.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.kind == other.kind && self.frame == other.frame
    }

    /// The data of the joined event.
    pub(super) fn data(mut self) -> Value {
        self.frame.insert("from_seq".to_owned(), self.first.into());
        if self.kind == Kind::TerminalOutput {
            self.frame.insert("data".to_owned(), self.text.into());
        } else if let Some(content) = self.frame.get_mut("content").and_then(Value::as_object_mut) {
            content.insert("text".to_owned(), self.text.into());
        }
        Value::Object(self.frame)
    }
}

/// Joins neighbours that are pieces of one thing. A joined event has the number of its last piece, and `from_seq` in its
/// data says the first.
#[must_use]
pub fn join(events: Vec<Event>) -> Vec<Event> {
    let mut joined: Vec<(Event, Option<Piece>, bool)> = Vec::with_capacity(events.len());
    for event in events {
        let piece = Piece::of(event.kind, event.data.get(), event.seq);
        if let (Some((last, Some(held), many)), Some(piece)) = (joined.last_mut(), &piece)
            && held.goes_with(piece)
            && last.turn_id == event.turn_id
            && last.session_id == event.session_id
        {
            held.text.push_str(&piece.text);
            *many = true;
            *last = event;
            continue;
        }
        joined.push((event, piece, false));
    }
    let finish = |(event, piece, many): (Event, Option<Piece>, bool)| match piece.filter(|_| many) {
        Some(piece) => event.with(&piece.data()),
        None => event,
    };
    joined.into_iter().map(finish).collect()
}
