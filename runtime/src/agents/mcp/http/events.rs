//! Server-sent events of an MCP server, and the one among them that answers a request.

use super::super::check::{Why, fault};
use super::caller::{Caller, LARGEST};
use crate::egress::Answer;
use serde_json::Value;

/// The outcome of request `id`, where `text` is the answer to it.
pub(super) fn outcome_of(text: &str, id: u64) -> Option<Result<Value, Why>> {
    let message: Value = serde_json::from_str(text).ok()?;
    if message.get("id").and_then(Value::as_u64) != Some(id) {
        return None;
    }
    match (message.get("result"), message.get("error")) {
        (_, Some(error)) => Some(Err(fault(error))),
        (Some(result), None) => Some(Ok(result.clone())),
        (None, None) => None,
    }
}

/// Server-sent events of an answer, one after the other.
pub(super) struct Events {
    answer: Answer,
    buffer: Vec<u8>,
}

impl Events {
    pub(super) const fn new(answer: Answer) -> Self {
        Self { answer, buffer: Vec::new() }
    }

    /// The outcome of request `id`, whatever else comes before it.
    pub(super) async fn outcome(&mut self, caller: &Caller, id: u64) -> Result<Value, Why> {
        loop {
            let (_, data) = self.next(caller).await?;
            if let Some(outcome) = outcome_of(&data, id) {
                return outcome;
            }
        }
    }

    /// The name and the data of the next event.
    pub(super) async fn next(&mut self, caller: &Caller) -> Result<(String, String), Why> {
        loop {
            if let Some(event) = cut(&mut self.buffer) {
                if !event.1.is_empty() {
                    return Ok(event);
                }
                continue;
            }
            if self.buffer.len() > LARGEST {
                return Err(Why::Broken("the answer is too large".to_owned()));
            }
            match self.answer.chunk().await.map_err(|error| caller.failed(error))? {
                // Line ends of every kind become the one.
                Some(chunk) => self.buffer.extend(chunk.iter().copied().filter(|byte| *byte != b'\r')),
                None => return Err(Why::Broken("the server hung up".to_owned())),
            }
        }
    }
}

/// Takes the first whole event off the buffer.
fn cut(buffer: &mut Vec<u8>) -> Option<(String, String)> {
    let end = memchr::memmem::find(buffer, b"\n\n")?;
    let block: Vec<u8> = buffer.drain(..end + 2).collect();
    let (mut name, mut data) = (String::new(), Vec::new());
    for line in String::from_utf8_lossy(&block).lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => data.push(value.to_owned()),
            _ => {}
        }
    }
    Some((name, data.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_where_they_end() {
        let mut buffer =
            b": hello\n\nevent: endpoint\ndata: /post\n\ndata: a\ndata:b\nid: 1\n\ndata: half".to_vec();
        let pair = |name: &str, data: &str| Some((name.to_owned(), data.to_owned()));
        assert_eq!(cut(&mut buffer), pair("", ""));
        assert_eq!(cut(&mut buffer), pair("endpoint", "/post"));
        assert_eq!(cut(&mut buffer), pair("", "a\nb"));
        assert_eq!(cut(&mut buffer), None);
        assert_eq!(buffer, b"data: half");
    }

    #[test]
    fn only_the_answer_to_our_request_is_its_outcome() {
        assert!(outcome_of(r#"{"id":2,"result":{}}"#, 1).is_none());
        assert!(outcome_of(r#"{"method":"ping","id":1}"#, 1).is_none());
        assert!(outcome_of("no json", 1).is_none());
        assert!(matches!(outcome_of(r#"{"id":1,"error":{"message":"no"}}"#, 1), Some(Err(Why::Broken(_)))));
        assert!(matches!(outcome_of(r#"{"id":1,"result":{}}"#, 1), Some(Ok(_))));
    }
}
