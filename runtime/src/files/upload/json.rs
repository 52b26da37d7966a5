//! A JSON object read in pieces, one long string of which is handed on as it comes and never held.
//!
//! Only the outermost level is read here. Every other member is gathered, up to a bound, and left to the JSON library.

#[cfg(test)]
mod tests;

use super::UploadError;
use serde_json::Value;
use std::collections::HashSet;

/// Most bytes of a key, or of a member that is no content.
const MAX_MEMBER: usize = 64 * 1024;
/// Most members.
const MAX_MEMBERS: usize = 1024;

/// A body that is not the JSON that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonFault(pub &'static str);

/// Where the members go.
pub(super) trait Sink {
    /// The content's string has begun.
    fn content_begins(&mut self) -> Result<(), UploadError>;
    /// A piece of the content, as written, escapes resolved.
    fn content(&mut self, text: &[u8]) -> Result<(), UploadError>;
    /// Another member; also the content where it is no string.
    fn member(&mut self, name: &str, value: Value) -> Result<(), UploadError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before `{`.
    Start,
    /// Behind `{`: a key or `}`.
    First,
    /// Behind `,`: a key.
    Next,
    /// In a key.
    Key,
    /// Behind a key: `:`.
    Colon,
    /// Behind `:`: a value.
    Value,
    /// In the content.
    Content,
    /// Behind `\` in the content, with that many hex digits still to come; 0 for the letter itself.
    Escape(u8),
    /// In another value.
    Other,
    /// Behind a value: `,` or `}`.
    After,
    /// Behind the last `}`.
    End,
}

/// How deep in another value, and whether in a string of it.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    string: bool,
    escaped: bool,
}

#[derive(Debug)]
pub(super) struct Reader {
    content: &'static str,
    state: State,
    /// A key or value being gathered.
    text: Vec<u8>,
    key: String,
    nesting: Nesting,
    code: u32,
    seen: HashSet<String>,
}

const BROKEN: JsonFault = JsonFault("the request body is not valid JSON");

impl Reader {
    pub(super) fn new(content: &'static str) -> Self {
        Self {
            content,
            state: State::Start,
            text: Vec::new(),
            key: String::new(),
            nesting: Nesting::default(),
            code: 0,
            seen: HashSet::new(),
        }
    }

    pub(super) fn feed(&mut self, piece: &[u8], sink: &mut dyn Sink) -> Result<(), UploadError> {
        let mut rest = piece;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Content {
                let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                let (text, later) = rest.split_at(run);
                if !text.is_empty() {
                    sink.content(text)?;
                }
                rest = later.get(1..).unwrap_or_default();
                match later.first() {
                    Some(b'"') => self.state = State::After,
                    Some(_) => self.state = State::Escape(0),
                    None => {}
                }
                continue;
            }
            // A value that is no string ends where what follows it begins: that byte is looked at again.
            if self.step(byte, sink)? {
                rest = after;
            }
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), JsonFault> {
        if self.state == State::End { Ok(()) } else { Err(JsonFault("the request body ends too early")) }
    }

    /// Takes one byte; `false` where it belongs to the next state.
    fn step(&mut self, byte: u8, sink: &mut dyn Sink) -> Result<bool, UploadError> {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match (self.state, byte) {
            (State::Key, _) => self.gather_key(byte)?,
            (State::Escape(_), _) => self.escape(byte, sink)?,
            (State::Other, _) => return self.gather(byte, sink),
            _ if blank => {}
            (State::Start, b'{') => self.state = State::First,
            (State::First | State::Next, b'"') => {
                self.state = State::Key;
                self.text.clear();
                self.text.push(byte);
                self.nesting = Nesting::default();
            }
            (State::First, b'}') | (State::After, b'}') => self.state = State::End,
            (State::Colon, b':') => self.state = State::Value,
            (State::Value, b'"') if self.key == self.content => {
                self.state = State::Content;
                sink.content_begins()?;
            }
            (State::Value, _) => {
                self.state = State::Other;
                self.text.clear();
                self.nesting = Nesting::default();
                return Ok(false);
            }
            (State::After, b',') => self.state = State::Next,
            _ => return Err(BROKEN.into()),
        }
        Ok(true)
    }

    fn push(&mut self, byte: u8) -> Result<(), JsonFault> {
        if self.text.len() >= MAX_MEMBER {
            return Err(JsonFault("a member of the request body is too long"));
        }
        self.text.push(byte);
        Ok(())
    }

    fn gather_key(&mut self, byte: u8) -> Result<(), UploadError> {
        self.push(byte)?;
        if std::mem::take(&mut self.nesting.escaped) {
            return Ok(());
        }
        match byte {
            b'\\' => self.nesting.escaped = true,
            b'"' => {
                self.key = serde_json::from_slice(&self.text).map_err(|_| BROKEN)?;
                if self.seen.len() >= MAX_MEMBERS {
                    return Err(JsonFault("the request body has too many members").into());
                }
                if !self.seen.insert(self.key.clone()) {
                    return Err(JsonFault("the request body says a member twice").into());
                }
                self.state = State::Colon;
            }
            _ => {}
        }
        Ok(())
    }

    /// Gathers a value up to its end, which for a number or a word is the byte behind it.
    fn gather(&mut self, byte: u8, sink: &mut dyn Sink) -> Result<bool, UploadError> {
        let nesting = &mut self.nesting;
        if nesting.string {
            match byte {
                _ if nesting.escaped => nesting.escaped = false,
                b'\\' => nesting.escaped = true,
                b'"' => nesting.string = false,
                _ => {}
            }
        } else {
            match byte {
                b',' | b'}' | b']' if nesting.depth == 0 => {
                    self.member(sink)?;
                    return Ok(false);
                }
                b'"' => nesting.string = true,
                b'{' | b'[' => nesting.depth += 1,
                b'}' | b']' => nesting.depth -= 1,
                _ => {}
            }
        }
        self.push(byte)?;
        Ok(true)
    }

    fn member(&mut self, sink: &mut dyn Sink) -> Result<(), UploadError> {
        let value = serde_json::from_slice(&self.text).map_err(|_| BROKEN)?;
        self.state = State::After;
        sink.member(&self.key, value)
    }

    /// An escape in the content. All that base64 can need is ASCII; the rest is content that is no base64.
    fn escape(&mut self, byte: u8, sink: &mut dyn Sink) -> Result<(), UploadError> {
        let State::Escape(left) = self.state else { return Ok(()) };
        let letter = match (left, byte) {
            (0, b'u') => {
                self.code = 0;
                self.state = State::Escape(4);
                return Ok(());
            }
            (0, b'"' | b'\\' | b'/') => u32::from(byte),
            (0, b'b' | b'f' | b'n' | b'r' | b't') => u32::from(b' '),
            (0, _) => return Err(BROKEN.into()),
            (_, digit) => {
                let digit = char::from(digit).to_digit(16).ok_or(BROKEN)?;
                self.code = self.code << 4 | digit;
                if left > 1 {
                    self.state = State::Escape(left - 1);
                    return Ok(());
                }
                self.code
            }
        };
        self.state = State::Content;
        sink.content(&[u8::try_from(letter).unwrap_or(b' ')])
    }
}
