//! A client that sends exactly the bytes it is given, and reads what comes back answer by answer.

use crate::server::PATIENCE;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long a connection that stays open after an answer is taken to have nothing more to say.
const QUIET: Duration = Duration::from_millis(400);

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, Vec<String>>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or(serde_json::Value::Null)
    }

    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.first().map(String::as_str)
    }

    pub fn id(&self) -> &str {
        self.header("x-request-id").unwrap_or_default()
    }
}

/// Everything that came back on one connection.
#[derive(Debug)]
pub struct Exchange {
    pub answers: Vec<Answer>,
    /// Whether the server closed the connection.
    pub closed: bool,
}

impl Exchange {
    /// The only answer; more than one, or none, is a failure.
    pub fn only(&self) -> &Answer {
        assert_eq!(self.answers.len(), 1, "one answer was wanted: {self:?}");
        &self.answers[0]
    }
}

/// Sends bytes, reads until the server closes or is quiet.
pub fn exchange(port: u16, bytes: &[u8]) -> Exchange {
    let mut stream = connect(port);
    // A server that has already refused may close while we still send.
    let _ = stream.write_all(bytes);
    read_all(&mut stream)
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    // A test that waits for what never comes fails, and does not hang.
    stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
    stream
}

/// Reads until the server closes, or is quiet after a whole answer.
pub fn read_all(stream: &mut TcpStream) -> Exchange {
    read_answers(stream, 1)
}

/// Reads until the server closes, or is quiet after so many whole answers. An answer that says so is followed by the close.
pub fn read_answers(stream: &mut TcpStream, count: usize) -> Exchange {
    let (mut bytes, mut piece) = (Vec::new(), [0; 65536]);
    let closed = loop {
        let last = split(&bytes, false).filter(|answers| answers.len() >= count);
        let last = last.and_then(|answers| answers.last().cloned());
        let open = last.is_some_and(|answer| answer.header("connection") != Some("close"));
        stream.set_read_timeout(Some(if open { QUIET } else { PATIENCE })).unwrap();
        match stream.read(&mut piece) {
            Ok(0) => break true,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            // Stopped and continued meanwhile.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if quiet(&error) => break false,
            Err(_) => break true,
        }
    };
    let answers =
        split(&bytes, true).unwrap_or_else(|| panic!("half an answer: {}", String::from_utf8_lossy(&bytes)));
    Exchange { answers, closed }
}

fn quiet(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The answers; none where the last is not yet whole. At the end of all bytes a body may be missing: to HEAD there is none.
fn split(mut bytes: &[u8], end_of_all: bool) -> Option<Vec<Answer>> {
    let mut answers = Vec::new();
    while let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            headers.entry(name.to_ascii_lowercase()).or_default().push(value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|values| values[0].parse::<usize>().ok());
        let rest = &bytes[end + 4..];
        let chunked = headers.get("transfer-encoding").is_some_and(|values| values[0] == "chunked");
        let (body, length) = match chunked {
            true => unchunked(rest)?,
            false => {
                let length = length.unwrap_or(0);
                if length > rest.len() && !end_of_all {
                    return None;
                }
                let length = length.min(rest.len());
                (rest[..length].to_vec(), length)
            }
        };
        if status != Some(100) {
            answers.push(Answer { status: status.unwrap_or(0), headers, body });
        }
        bytes = &rest[length..];
    }
    bytes.is_empty().then_some(answers)
}

/// The body of a chunked answer and how many bytes it took, its last chunk included; none where that is not there yet.
fn unchunked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = bytes.get(at..)?.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[at..at + line]).unwrap(), 16).unwrap();
        let begun = at + line + 2;
        body.extend_from_slice(bytes.get(begun..begun + size)?);
        at = begun + size + 2;
        if size == 0 {
            return (at <= bytes.len()).then_some((body, at));
        }
    }
}

/// One well-formed request and its answer.
pub fn request(
    port: u16,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Answer {
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        bytes.push_str("Host: localhost\r\n");
    }
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(body) = body {
        bytes.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    bytes.push_str("\r\n");
    let mut bytes = bytes.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    let exchange = exchange(port, &bytes);
    exchange.only().clone()
}

/// A GET with nothing special.
pub fn get(port: u16, target: &str) -> Answer {
    request(port, "GET", target, &[], None)
}

/// A POST of JSON.
pub fn post(port: u16, target: &str, body: &str) -> Answer {
    request(port, "POST", target, &[("Content-Type", "application/json")], Some(body.as_bytes()))
}

/// The same from another loopback address.
pub fn from_address(from: &str, port: u16, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let from = std::net::SocketAddr::new(from.parse().unwrap(), 0);
    let socket =
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &from).unwrap();
    rustix::net::connect(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
    let mut stream = TcpStream::from(socket);
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    bytes.push_str("\r\n");
    stream.write_all(bytes.as_bytes()).unwrap();
    read_all(&mut stream).only().clone()
}
