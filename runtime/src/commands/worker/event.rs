//! What a worker says about a call.

use serde_json::Value;

/// What a worker says about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What a command returned.
    Result(Value),
    /// What a route returned: `{"status", "headers"}` with `json` or `bytes`.
    Response(Value),
    /// A stream begins: `{"status", "headers"}`.
    Stream(Value),
    /// One event of the stream.
    Text(String),
    /// The stream has ended.
    End,
    /// It raised.
    Raised {
        /// The exception's name.
        kind: String,
        /// Its text.
        message: String,
    },
    /// The worker has died.
    Gone,
}

impl Event {
    /// Reads the message of a call; none for one that says nothing of it.
    pub(super) fn of(message: &mut Value) -> Option<Self> {
        let members = message.as_object_mut()?;
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        if let Some(result) = members.remove("result") {
            Some(Self::Result(result))
        } else if let Some(response) = members.remove("response") {
            Some(Self::Response(response))
        } else if let Some(error) = members.get("error") {
            Some(Self::Raised { kind: text(error, "type"), message: text(error, "message") })
        } else if let Some(Value::String(text)) = members.remove("event") {
            Some(Self::Text(text))
        } else if let Some(head) = members.remove("stream") {
            Some(Self::Stream(head))
        } else {
            members.contains_key("end").then_some(Self::End)
        }
    }
}
