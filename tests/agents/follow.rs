//! Reads a stream of server-sent events as it comes.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: Option<u64>,
    pub kind: String,
    pub data: Value,
}

/// An open stream. Dropped, its connection is cut.
#[derive(Debug)]
pub struct Follower {
    stream: BufReader<TcpStream>,
    pub status: u16,
    text: String,
    /// How much of it was handed out.
    taken: usize,
    whole: bool,
}

impl Follower {
    /// Opens a stream by GET.
    pub fn open(port: u16, path: &str, token: Option<&str>) -> Self {
        Self::ask(port, "GET", path, token, None, None)
    }

    /// Opens one by any request. `after` becomes `Last-Event-ID`.
    pub fn ask(
        port: u16,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
        after: Option<u64>,
    ) -> Self {
        Self::within(crate::lab::PATIENCE, port, method, path, token, body, after)
    }

    /// The same, where a silence may last longer.
    pub fn within(
        patience: Duration,
        port: u16,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
        after: Option<u64>,
    ) -> Self {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        if let Some(token) = token {
            request.push_str(&format!("X-Access-Token: {token}\r\n"));
        }
        if let Some(after) = after {
            request.push_str(&format!("Last-Event-ID: {after}\r\n"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            request
                .push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        request.push_str(&format!("\r\n{body}"));
        let mut stream = crate::raw::connect(port);
        stream.set_read_timeout(Some(patience)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut chunked = false;
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).unwrap();
            chunked |= line.to_ascii_lowercase().starts_with("transfer-encoding: chunked");
        }
        let mut follower = Self { stream, status, text: String::new(), taken: 0, whole: false };
        if !chunked {
            // A refusal, as plain JSON; see `rest`.
            follower.whole = true;
        }
        follower
    }

    /// The next event; comments and `retry` are passed over. None at the end of the stream.
    pub fn next(&mut self) -> Option<Event> {
        loop {
            let event = read(&self.block()?);
            if event.is_some() {
                return event;
            }
        }
    }

    /// What comes next up to an empty line, whatever it is. None at the end of the stream.
    pub fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, _)) = self.text.get(self.taken..).and_then(|rest| rest.split_once("\n\n")) {
                let block = block.to_owned();
                self.taken += block.len() + 2;
                return Some(block);
            }
            self.text.drain(..std::mem::take(&mut self.taken));
            if !self.more() {
                return None;
            }
        }
    }

    /// From here on only so many bytes lie between the server and a reader that reads nothing.
    pub fn narrow(&self, bytes: usize) {
        rustix::net::sockopt::set_socket_recv_buffer_size(self.stream.get_ref(), bytes).unwrap();
    }

    /// Every event up to and with the first of a kind.
    pub fn until(&mut self, kind: &str) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next() {
            let last = event.kind == kind;
            events.push(event);
            if last {
                return events;
            }
        }
        panic!("`{kind}` never came: {events:#?}")
    }

    /// Every event to the end of the stream.
    pub fn all(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Takes another chunk of the body. False at its end.
    fn more(&mut self) -> bool {
        if self.whole {
            return false;
        }
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        let mut piece = vec![0; size + 2];
        self.stream.read_exact(&mut piece).unwrap();
        self.text.push_str(&String::from_utf8_lossy(&piece[..size]));
        self.whole = size == 0;
        size > 0
    }
}

fn read(block: &str) -> Option<Event> {
    let field = |name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(|value| value.trim_start())
    };
    let data = field("data")?;
    Some(Event {
        id: field("id").and_then(|id| id.parse().ok()),
        kind: field("event").unwrap_or("message").to_owned(),
        data: serde_json::from_str(data).unwrap_or_else(|_| panic!("no JSON: {data}")),
    })
}
