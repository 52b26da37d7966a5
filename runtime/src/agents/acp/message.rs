//! A line into a JSON-RPC message, and messages into lines.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The numbers of faults.
pub mod code {
    /// A line was no JSON.
    pub const PARSE: i64 = -32700;
    /// A message was no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const NO_METHOD: i64 = -32601;
    /// The parameters are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Anything else.
    pub const INTERNAL: i64 = -32603;
    /// The request was cancelled.
    pub const CANCELLED: i64 = -32800;
    /// The agent wants to be signed in first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// A file or a session is not there.
    pub const NOT_FOUND: i64 = -32002;
}

/// The error of an answer, as it is on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcFault {
    /// See [`code`].
    #[serde(default)]
    pub code: i64,
    /// In words.
    #[serde(default)]
    pub message: String,
    /// Whatever else was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcFault {
    /// A fault without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// What a method that nobody knows is answered with.
    #[must_use]
    pub fn no_method(method: &str) -> Self {
        Self { data: Some(json!({"method": method})), ..Self::new(code::NO_METHOD, "Method not found") }
    }

    /// What wrong parameters are answered with.
    #[must_use]
    pub fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, why)
    }

    /// What a cancelled request is answered with.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(code::CANCELLED, "Request cancelled")
    }

    /// From the `error` member of an answer, whatever it looks like.
    fn read(error: Value) -> Self {
        let text = error.to_string();
        serde_json::from_value(error)
            .unwrap_or_else(|_| Self::new(code::INTERNAL, format!("the agent answered an error: {text}")))
    }
}

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Somebody asks. The id is a number, a text or null, and is echoed as it came.
    Request {
        /// The asker's id.
        id: Value,
        /// What for.
        method: String,
        /// `null` where there are none.
        params: Value,
    },
    /// Somebody tells.
    Notification {
        /// What about.
        method: String,
        /// `null` where there are none.
        params: Value,
    },
    /// The answer to a request.
    Answer {
        /// Our id of the request; `null` where the other side could not read it.
        id: Value,
        /// What came of it.
        outcome: Result<Value, RpcFault>,
    },
    /// A request whose method is no text: answered with a fault.
    Broken {
        /// The asker's id.
        id: Value,
    },
}

impl Message {
    /// Reads a line. `None` where it is no message: what a program prints by mistake.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let mut members: Map<String, Value> = serde_json::from_slice(line).ok()?;
        let id = members.remove("id");
        let mut params = || members.remove("params").unwrap_or_default();
        let params = params();
        match (members.remove("method"), id) {
            (Some(Value::String(method)), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(Value::String(method)), None) => Some(Self::Notification { method, params }),
            (Some(_), Some(id)) => Some(Self::Broken { id }),
            (Some(_), None) | (None, None) => None,
            (None, Some(id)) => {
                let error = members.remove("error").filter(|error| !error.is_null());
                let outcome = match (error, members.remove("result")) {
                    (Some(error), _) => Err(RpcFault::read(error)),
                    (None, Some(result)) => Ok(result),
                    (None, None) => return None,
                };
                Some(Self::Answer { id, outcome })
            }
        }
    }
}

/// A request as a line.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// A notification as a line.
pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// An answer as a line.
pub(super) fn answer(id: &Value, outcome: &Result<Value, RpcFault>) -> Vec<u8> {
    match outcome {
        Ok(result) => line(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Err(fault) => line(&json!({"jsonrpc": "2.0", "id": id, "error": fault})),
    }
}

fn line(message: &Value) -> Vec<u8> {
    let mut text = message.to_string().into_bytes();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{Message, RpcFault, answer, code};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(line: &str) -> Option<Message> {
        Message::read(line.as_bytes())
    }

    #[test]
    fn messages_are_told_apart_by_their_members() {
        let request = |id: Value| Some(Message::Request { id, method: "m".to_owned(), params: Value::Null });
        for id in [json!(0), json!("6a1f"), json!(null), json!(-3)] {
            assert_eq!(read(&json!({"id": id, "method": "m"}).to_string()), request(id.clone()));
            let told = answer(&id, &Ok(json!({})));
            assert_eq!(told, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").into_bytes());
        }
        assert_eq!(
            read(r#"{"method":"m","params":{"a":1}}"#),
            Some(Message::Notification { method: "m".to_owned(), params: json!({"a": 1}) })
        );
        assert_eq!(read(r#"{"id":1,"method":7}"#), Some(Message::Broken { id: json!(1) }));
    }

    #[test]
    fn answers_carry_a_result_or_a_fault() {
        let told = |line: &str| match read(line) {
            Some(Message::Answer { outcome, .. }) => outcome,
            other => panic!("{other:?}"),
        };
        assert_eq!(told(r#"{"id":1,"result":null}"#), Ok(Value::Null));
        assert_eq!(told(r#"{"id":1,"result":{},"error":null}"#), Ok(json!({})));
        assert_eq!(
            told(r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#),
            Err(RpcFault::new(code::NO_METHOD, "no"))
        );
        assert_eq!(
            told(r#"{"id":null,"error":"broken"}"#),
            Err(RpcFault::new(code::INTERNAL, "the agent answered an error: \"broken\""))
        );
    }

    #[test]
    fn what_is_no_message_is_noise() {
        for noise in
            ["", "hello", "1", "[]", r#"[{"id":1}]"#, "{}", r#"{"id":1}"#, r#"{"method":7}"#, "{\"id\":"]
        {
            assert_eq!(read(noise), None, "{noise}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::read(&line);
        }

        #[test]
        fn what_is_written_is_read_back(id in any::<u64>(), text in ".{0,40}") {
            let params = json!({"text": text});
            let line = super::request(id, "m", &params);
            prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            let wanted = Message::Request { id: json!(id), method: "m".to_owned(), params };
            prop_assert_eq!(Message::read(&line), Some(wanted));
        }
    }
}
