//! An event, before and after it has a number.

use super::Kind;
use crate::agents::artifacts::Found;
use crate::agents::store::now;
use crate::agents::weight::weight;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// An event that is yet to be numbered.
#[derive(Debug)]
pub struct NewEvent {
    /// The turn that it belongs to.
    pub turn_id: Option<String>,
    /// What it says.
    pub kind: Kind,
    /// An object.
    pub data: Value,
    /// The part of the agent's frame that it was made of, where `data` does not say all of it.
    pub raw: Option<Value>,
    /// When it happened, in epoch seconds.
    pub ts: f64,
    /// Contents that were taken out of `data`, stored beside the log.
    pub(in crate::agents) artifacts: Vec<Found>,
}

impl NewEvent {
    /// An event of now.
    #[must_use]
    pub fn new(kind: Kind, data: Value) -> Self {
        Self { turn_id: None, kind, data, raw: None, ts: now(), artifacts: Vec::new() }
    }

    /// Of this turn.
    #[must_use]
    pub fn turn(mut self, turn_id: impl Into<String>) -> Self {
        self.turn_id = Some(turn_id.into());
        self
    }

    /// Made of this part of a frame.
    #[must_use]
    pub fn raw(mut self, raw: Value) -> Self {
        self.raw = Some(raw);
        self
    }

    /// About how much memory it takes.
    #[must_use]
    pub(super) fn weight(&self) -> usize {
        200 + weight(&self.data) + self.raw.as_ref().map_or(0, weight)
    }
}

/// Written as text already, so that the writing thread need not.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) turn_id: Option<String>,
    pub(super) kind: Kind,
    pub(super) data: Value,
    pub(super) text: String,
    pub(super) raw: Option<String>,
    pub(super) ts: f64,
    pub(super) artifacts: Vec<Found>,
}

impl Prepared {
    pub(super) fn new(event: NewEvent) -> Self {
        // Data is an object by contract; what is none is kept inside one.
        let data = if event.data.is_object() { event.data } else { json!({"value": event.data}) };
        let text = data.to_string();
        let raw = event.raw.map(|raw| raw.to_string());
        let NewEvent { turn_id, kind, ts, artifacts, .. } = event;
        Self { turn_id, kind, data, text, raw, ts, artifacts }
    }
}

/// An event of the log.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its number in the session, from 1.
    pub seq: i64,
    /// Its number in the server.
    pub gseq: i64,
    /// Epoch seconds.
    pub ts: f64,
    /// Its session.
    pub session_id: Arc<str>,
    /// Its turn.
    pub turn_id: Option<String>,
    /// What it says.
    pub kind: Kind,
    /// An object, as JSON text.
    pub data: Box<RawValue>,
    /// What it was made of, where that was kept.
    pub raw: Option<Box<RawValue>>,
}

impl Event {
    /// The data, to look into.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.data.get()).unwrap_or_default()
    }

    /// With other data.
    #[must_use]
    pub fn with(&self, data: &Value) -> Self {
        Self { data: raw(data.to_string()), ..self.clone() }
    }

    /// About how many bytes it is when written.
    #[must_use]
    pub fn size(&self) -> usize {
        self.data.get().len() + self.raw.as_ref().map_or(0, |raw| raw.get().len()) + 160
    }
}

/// Without `raw`, which only one list shows.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("gseq", &self.gseq)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("session_id", &*self.session_id)?;
        if let Some(turn_id) = &self.turn_id {
            map.serialize_entry("turn_id", turn_id)?;
        }
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}

/// JSON text as it is; what is none becomes an empty object.
pub(super) fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::from_string("{}".to_owned()).unwrap_or_default())
}
