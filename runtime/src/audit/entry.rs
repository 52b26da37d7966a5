//! One line of the log. Never holds bodies, stdin, tokens, values of variables or output.

use std::fmt::Write;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

const STAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A call that has been answered.
    Call,
    /// A call that is about to change something.
    Intent,
    /// A call whose client left before the answer was complete.
    Cut,
    /// A command that has ended, whether or not anybody was there to see it.
    End,
}

impl Event {
    /// As written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Intent => "intent",
            Self::Cut => "cut",
            Self::End => "end",
        }
    }
}

/// A value of a further member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Text, escaped when written.
    Text(String),
    /// A number.
    Number(i128),
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i32> for Fact {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Fact {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

/// A decision and its outcome.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// When it was written.
    pub time: SystemTime,
    /// What it is about.
    pub event: Event,
    /// The request's own id.
    pub request_id: crate::endpoint::RequestId,
    /// The other end.
    pub peer: IpAddr,
    /// Who called, once known.
    pub identity: Option<&'a str>,
    /// HTTP method.
    pub method: &'a str,
    /// The endpoint, once found.
    pub endpoint: Option<&'a str>,
    /// Whether it was let in and served.
    pub allowed: bool,
    /// The code of a refusal.
    pub code: Option<&'a str>,
    /// The rule that decided.
    pub rule: Option<&'a str>,
    /// The status; absent before the outcome.
    pub status: Option<u16>,
    /// From the first to the last byte.
    pub duration: Duration,
    /// Bytes of the request body.
    pub bytes_in: u64,
    /// Bytes of the answer's body.
    pub bytes_out: u64,
    /// The path it touches or the program it runs, and which of the two: `path`, `program`.
    pub subject: Option<(&'static str, &'a str)>,
    /// What only the handler knew: the sandbox that was named, the command, its directory.
    pub facts: &'a [(&'static str, Fact)],
}

impl Entry<'_> {
    /// The line, with its newline.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = String::with_capacity(320);
        line.push_str("{\"time\":\"");
        line.push_str(&stamp(self.time));
        let _ =
            write!(line, "\",\"event\":\"{}\",\"request_id\":\"{}\"", self.event.as_str(), self.request_id);
        let _ = write!(line, ",\"peer\":\"{}\"", self.peer);
        text(&mut line, "identity", self.identity);
        text(&mut line, "method", Some(self.method));
        text(&mut line, "endpoint", self.endpoint);
        text(&mut line, "decision", Some(if self.allowed { "allow" } else { "deny" }));
        text(&mut line, "code", self.code);
        text(&mut line, "rule", self.rule);
        if let Some(status) = self.status {
            let _ = write!(line, ",\"status\":{status},\"duration_us\":{}", self.duration.as_micros());
            let _ = write!(line, ",\"bytes_in\":{},\"bytes_out\":{}", self.bytes_in, self.bytes_out);
        }
        if let Some((name, value)) = self.subject {
            text(&mut line, name, Some(value));
        }
        for (name, fact) in self.facts {
            match fact {
                Fact::Text(value) => text(&mut line, name, Some(value)),
                Fact::Number(number) => {
                    let _ = write!(line, ",\"{name}\":{number}");
                }
            }
        }
        line.push_str("}\n");
        line
    }
}

/// A time as the log writes it: UTC, microseconds.
pub(super) fn stamp(time: SystemTime) -> String {
    OffsetDateTime::from(time).format(STAMP).unwrap_or_default()
}

/// A text member; nothing where it is absent.
pub(super) fn text(line: &mut String, name: &str, value: Option<&str>) {
    let Some(value) = value else { return };
    let _ = write!(line, ",\"{name}\":\"");
    for character in value.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            // Beyond what JSON asks: nothing that a terminal or a log viewer acts on.
            plain if !is_active(plain) => line.push(plain),
            active => {
                for unit in active.encode_utf16(&mut [0; 2]) {
                    let _ = write!(line, "\\u{unit:04x}");
                }
            }
        }
    }
    line.push('"');
}

/// Controls, line separators, and marks that turn the direction of text.
fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{Entry, Event, Fact};
    use crate::endpoint::RequestId;
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_line_is_one_line_of_json() {
        let entry = Entry {
            time: SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000),
            event: Event::Call,
            request_id: RequestId { boot: 1, number: 2 },
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            identity: Some("ci"),
            method: "GET",
            endpoint: Some("files_stat"),
            allowed: false,
            code: Some("path_denied"),
            rule: Some("policy:endpoints.files_*"),
            status: Some(403),
            duration: Duration::from_micros(42),
            bytes_in: 0,
            bytes_out: 7,
            subject: Some(("path", "/a\n\"b\u{1b}[0m\u{9b}\u{202e}😀")),
            facts: &[("sandbox", Fact::Text("b\"x".to_owned())), ("exit_code", Fact::Number(-9))],
        };
        let line = entry.line();
        assert_eq!(
            line,
            concat!(
                r#"{"time":"1970-01-01T00:00:01.500000Z","event":"call","request_id":"00000000000000010000000000000002","#,
                r#""peer":"127.0.0.1","identity":"ci","method":"GET","endpoint":"files_stat","decision":"deny","#,
                r#""code":"path_denied","rule":"policy:endpoints.files_*","status":403,"duration_us":42,"#,
                r#""bytes_in":0,"bytes_out":7,"path":"/a\u000a\"b\u001b[0m\u009b\u202e😀","#,
                r#""sandbox":"b\"x","exit_code":-9}"#,
                "\n"
            )
        );
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
    }
}
