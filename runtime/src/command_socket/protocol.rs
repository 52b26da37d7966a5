//! The frames: text, one JSON object each. Clients take a type that they do not know for a fatal error, so there are no
//! others than these.

use serde_json::{Map, Value, json};

use crate::process::Stream;

/// The first frame of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum First {
    /// Start a command, or attach to the one of that id.
    Execute(Map<String, Value>),
    /// Attach.
    Reconnect {
        /// To which.
        command_id: String,
        /// Where to go on in the text of standard output and standard error.
        offsets: [u64; 2],
    },
}

/// A later frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Input(String),
    CloseStdin,
    Kill,
    Resize { columns: u16, rows: u16 },
}

/// Reads the first frame.
pub(super) fn first(text: &str) -> Result<First, &'static str> {
    let Ok(Value::Object(mut members)) = serde_json::from_str(text) else {
        return Err("the first frame must be a JSON object");
    };
    match members.remove("type").as_ref().and_then(Value::as_str) {
        Some("execute") => Ok(First::Execute(members)),
        Some("reconnect") => {
            let Some(Value::String(command_id)) = members.remove("command_id") else {
                return Err("reconnect needs a command_id");
            };
            let offset = |name| match members.get(name) {
                None | Some(Value::Null) => Ok(0),
                Some(value) => value.as_u64().ok_or("an offset must be a number from 0 up"),
            };
            Ok(First::Reconnect { command_id, offsets: [offset("stdout_offset")?, offset("stderr_offset")?] })
        }
        _ => Err("the first frame must be of type execute or reconnect"),
    }
}

/// Reads a later frame; none where it is no such frame.
pub(super) fn said(text: &str) -> Option<Said> {
    let value: Value = serde_json::from_str(text).ok()?;
    match value.get("type")?.as_str()? {
        "input" => Some(Said::Input(value.get("data")?.as_str()?.to_owned())),
        "close_stdin" => Some(Said::CloseStdin),
        "kill" => Some(Said::Kill),
        "resize" => {
            let size = |name| u16::try_from(value.get(name)?.as_u64()?).ok().filter(|size| *size > 0);
            Some(Said::Resize { columns: size("cols")?, rows: size("rows")? })
        }
        _ => None,
    }
}

pub(super) fn started(command_id: &str, pid: i32) -> String {
    json!({"type": "started", "command_id": command_id, "pid": pid}).to_string()
}

/// Output. Escaping can make a character six bytes long; the caller bounds the text so that the frame stays below 1 MiB,
/// which clients cannot take.
pub(super) fn output(stream: Stream, text: &str, offset: u64) -> String {
    let mut frame = String::with_capacity(text.len() + text.len() / 8 + 64);
    frame.push_str(match stream {
        Stream::Stdout => "{\"type\":\"stdout\",\"data\":",
        Stream::Stderr => "{\"type\":\"stderr\",\"data\":",
    });
    let mut bytes = frame.into_bytes();
    // Writing text to memory cannot fail, and what is written is text.
    let _ = serde_json::to_writer(&mut bytes, text);
    let mut frame = String::from_utf8(bytes).unwrap_or_default();
    frame.push_str(&format!(",\"offset\":{offset}}}"));
    frame
}

pub(super) fn exit(exit_code: i32) -> String {
    json!({"type": "exit", "exit_code": exit_code}).to_string()
}

pub(super) fn error(kind: &str, message: &str) -> String {
    json!({"type": "error", "error_type": kind, "error": message}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_frames() {
        let reconnect =
            |command_id: &str, offsets| First::Reconnect { command_id: command_id.into(), offsets };
        assert_eq!(
            first(r#"{"type":"reconnect","command_id":"a","stdout_offset":7}"#),
            Ok(reconnect("a", [7, 0]))
        );
        assert_eq!(
            first(r#"{"type":"execute","command":"ls"}"#),
            Ok(First::Execute(json!({"command": "ls"}).as_object().unwrap().clone()))
        );
        for (wrong, why) in [
            ("", "the first frame must be a JSON object"),
            ("[]", "the first frame must be a JSON object"),
            (r#"{"type":"input"}"#, "the first frame must be of type execute or reconnect"),
            (r#"{"type":"reconnect"}"#, "reconnect needs a command_id"),
            (
                r#"{"type":"reconnect","command_id":"a","stderr_offset":-1}"#,
                "an offset must be a number from 0 up",
            ),
            (
                r#"{"type":"reconnect","command_id":"a","stdout_offset":"1"}"#,
                "an offset must be a number from 0 up",
            ),
        ] {
            assert_eq!(first(wrong), Err(why), "{wrong}");
        }
    }

    #[test]
    fn later_frames() {
        assert_eq!(said(r#"{"type":"kill"}"#), Some(Said::Kill));
        assert_eq!(said(r#"{"type":"close_stdin"}"#), Some(Said::CloseStdin));
        assert_eq!(said(r#"{"type":"input","data":"x"}"#), Some(Said::Input("x".to_owned())));
        assert_eq!(
            said(r#"{"type":"resize","cols":1,"rows":2}"#),
            Some(Said::Resize { columns: 1, rows: 2 })
        );
        for nothing in [
            "",
            "{",
            "7",
            r#"{"type":"input","data":7}"#,
            r#"{"type":"resize","cols":0,"rows":2}"#,
            r#"{"type":"x"}"#,
        ] {
            assert_eq!(said(nothing), None, "{nothing}");
        }
        assert_eq!(said(&"[".repeat(100_000)), None);
    }

    #[test]
    fn output_is_json() {
        assert_eq!(
            output(Stream::Stderr, "a\"\u{1}\n€", 9),
            r#"{"type":"stderr","data":"a\"\u0001\n€","offset":9}"#
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = (first(&text), said(&text));
        }
    }
}
