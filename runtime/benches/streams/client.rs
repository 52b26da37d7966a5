//! The clients of the bench: as little as reads what a server sends.

use crate::peers::Peer;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// One connection.
pub(crate) struct Http {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Http {
    pub(crate) fn connect(peer: &Peer) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", peer.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::with_capacity(1 << 20, stream) }
    }

    pub(crate) fn head(&mut self, method: &str, path: &str, headers: &str) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        self.stream.get_mut().write_all(head.as_bytes()).unwrap();
    }

    pub(crate) fn get(&mut self, path: &str) {
        self.head("GET", path, "");
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) {
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// The length that the head announces; none for chunks.
    fn length(&mut self) -> Option<usize> {
        let (mut length, mut line) = (None, String::new());
        loop {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server closed");
            assert!(!line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.1 200"), "{line}");
            match line.trim_end().split_once(':') {
                None if line == "\r\n" => return length,
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok()
                }
                _ => {}
            }
        }
    }

    /// Waits for the first event of a stream.
    pub(crate) fn event(&mut self) {
        assert!(self.length().is_none(), "no stream");
        let mut line = String::new();
        while !line.starts_with("data:") {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server closed");
        }
    }

    /// Reads on to the last chunk.
    pub(crate) fn finish(&mut self) {
        let mut line = String::new();
        while line != "0\r\n" {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server closed");
        }
    }

    pub(crate) fn body(&mut self) -> Vec<u8> {
        let mut body = vec![0; self.length().unwrap()];
        self.stream.read_exact(&mut body).unwrap();
        body
    }

    /// Reads a body and drops it; how long it was.
    pub(crate) fn drain(&mut self) -> usize {
        if let Some(length) = self.length() {
            self.skip(length);
            return length;
        }
        let (mut total, mut line) = (0, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            self.skip(size + 2);
            total += size;
            if size == 0 {
                return total;
            }
        }
    }

    fn skip(&mut self, mut bytes: usize) {
        while bytes > 0 {
            let read = self.stream.fill_buf().unwrap().len().min(bytes);
            assert!(read > 0, "the server closed");
            self.stream.consume(read);
            bytes -= read;
        }
    }
}

pub(crate) type Socket = WebSocket<TcpStream>;

/// A socket; `port` for a tunnel that leads to one.
pub(crate) fn socket(peer: &Peer, path: &str, port: Option<u16>) -> Socket {
    let mut request = format!("ws://localhost:{}{path}", peer.port).into_client_request().unwrap();
    if let Some(port) = port {
        request.headers_mut().insert("x-sandbox-port", port.into());
    }
    connect(peer, request)
}

/// A socket by any request.
pub(crate) fn connect(peer: &Peer, request: Request<()>) -> Socket {
    let stream = TcpStream::connect(("127.0.0.1", peer.port)).unwrap();
    stream.set_nodelay(true).unwrap();
    tokio_tungstenite::tungstenite::client(request, stream).unwrap().0
}

/// Bytes of the frames until the server closes, or until one shows `end`.
pub(crate) fn frames(socket: &mut Socket, end: Option<u8>) -> usize {
    let mut total = 0;
    loop {
        let data = match socket.read() {
            Ok(Message::Binary(data)) => data,
            Ok(Message::Text(text)) => text.into(),
            Ok(Message::Close(_)) | Err(_) => return total,
            // The library queues a pong for every ping, and sends it with the next read.
            Ok(_) => continue,
        };
        total += data.len();
        if end.is_some_and(|end| data.contains(&end)) {
            return total;
        }
    }
}
