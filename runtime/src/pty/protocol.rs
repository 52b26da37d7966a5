//! What a terminal's socket speaks: JSON text frames both ways.

use serde_json::Value;

use crate::process::signals;

/// Signals that a client may send at all; a rule may allow fewer.
pub const CEILING: [u8; 5] = [1, 2, 3, 9, 15];

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Bytes for the terminal.
    Input(String),
    /// A new size, both at least 1.
    Resize {
        /// Width.
        columns: u16,
        /// Height.
        rows: u16,
    },
    /// A signal of the ceiling.
    Signal(u8),
}

/// Reads a frame. What is no message, or not one of ours, is nothing: the source document drops it silently.
#[must_use]
pub fn read(text: &str) -> Option<Said> {
    let mut frame: Value = serde_json::from_str(text).ok()?;
    match frame.get("type")?.as_str()? {
        "input" => match frame.get_mut("data")?.take() {
            Value::String(data) => Some(Said::Input(data)),
            _ => None,
        },
        "resize" => {
            let (columns, rows) = (size(frame.get("cols")?)?, size(frame.get("rows")?)?);
            Some(Said::Resize { columns, rows })
        }
        "signal" => {
            let number = match frame.get("signal")? {
                Value::String(name) => signals::by_name(name),
                Value::Number(number) => number.as_u64().and_then(|number| u8::try_from(number).ok()),
                _ => None,
            };
            number.filter(|number| CEILING.contains(number)).map(Said::Signal)
        }
        _ => None,
    }
}

/// A width or height: 1 to 65535.
#[must_use]
pub fn size(value: &Value) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok().filter(|size| *size > 0)
}

/// Output; `offset` counts the bytes of the terminal before it.
#[must_use]
pub fn output(bytes: &[u8], offset: u64) -> String {
    let mut frame = br#"{"type":"output","data":"#.to_vec();
    // Writing text to memory cannot fail.
    let _ = serde_json::to_writer(&mut frame, &String::from_utf8_lossy(bytes));
    frame.extend_from_slice(format!(",\"offset\":{offset}}}").as_bytes());
    String::from_utf8(frame).unwrap_or_default()
}

/// The first frame.
#[must_use]
pub fn started(session: &str, pid: i32) -> String {
    format!(r#"{{"type":"event","event":"started","session_id":"{session}","pid":{pid}}}"#)
}

/// The last one.
#[must_use]
pub fn exited(session: &str, exit_code: i32) -> String {
    format!(r#"{{"type":"event","event":"exited","session_id":"{session}","exit_code":{exit_code}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // security 56, 143, 182
    #[test]
    fn what_is_no_message_is_nothing() {
        assert_eq!(read(r#"{"type":"input","data":"ls\n"}"#), Some(Said::Input("ls\n".to_owned())));
        assert_eq!(
            read(r#"{"type":"resize","cols":120,"rows":40}"#),
            Some(Said::Resize { columns: 120, rows: 40 })
        );
        assert_eq!(read(r#"{"type":"signal","signal":"SIGINT"}"#), Some(Said::Signal(2)));
        for nothing in [
            "",
            "{",
            "[]",
            "7",
            r#"{"type":"other"}"#,
            r#"{"type":"input","data":7}"#,
            r#"{"type":"input"}"#,
            r#"{"type":"resize","cols":0,"rows":1}"#,
            r#"{"type":"resize","cols":-1,"rows":1}"#,
            r#"{"type":"resize","cols":65536,"rows":1}"#,
            r#"{"type":"resize","cols":"80","rows":1}"#,
            r#"{"type":"signal","signal":"SIGUSR1"}"#,
            r#"{"type":"signal","signal":20}"#,
            r#"{"type":"signal","signal":15.5}"#,
            r#"{"type":"signal","signal":"15"}"#,
        ] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
        assert_eq!(read(&"[".repeat(100_000)), None);
    }

    #[test]
    fn frames_are_json() {
        assert_eq!(
            output(b"a\"\n\xff", 7),
            "{\"type\":\"output\",\"data\":\"a\\\"\\n\u{fffd}\",\"offset\":7}"
        );
        assert_eq!(started("s", 1), r#"{"type":"event","event":"started","session_id":"s","pid":1}"#);
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = read(&text);
        }
    }
}
