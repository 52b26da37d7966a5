//! A client that keeps its connection for as long as the server does.

use crate::raw::Answer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

#[derive(Debug)]
pub struct Client {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn new(port: u16) -> Self {
        Self { port, stream: None }
    }

    /// One request, with JSON where it has a body, and its answer.
    pub fn ask(&mut self, method: &str, target: &str, token: Option<&str>, body: Option<&str>) -> Answer {
        self.send(method, target, token, body.map(|body| ("application/json", body)))
    }

    /// The same, with a body of any type.
    pub fn send(
        &mut self,
        method: &str,
        target: &str,
        token: Option<&str>,
        body: Option<(&str, &str)>,
    ) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
        if let Some(token) = token {
            request.push_str(&format!("X-Access-Token: {token}\r\n"));
        }
        if let Some((kind, body)) = body {
            request.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
        }
        request.push_str(&format!("\r\n{}", body.unwrap_or_default().1));
        let mut stream = self.kept(&request).unwrap_or_else(|| {
            let mut stream = BufReader::new(crate::raw::connect(self.port));
            stream.get_mut().write_all(request.as_bytes()).unwrap();
            stream
        });
        let answer = read(&mut stream);
        if answer.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        answer
    }

    /// The connection of the last request with the beginning of an answer; none where the server has closed it meanwhile
    /// for its silence.
    fn kept(&mut self, request: &str) -> Option<BufReader<TcpStream>> {
        let mut stream = self.stream.take()?;
        stream.get_mut().write_all(request.as_bytes()).ok()?;
        loop {
            match stream.fill_buf() {
                // Stopped and continued meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                answered => break answered.is_ok_and(|bytes| !bytes.is_empty()).then_some(()),
            }
        }?;
        Some(stream)
    }
}

fn read(stream: &mut BufReader<TcpStream>) -> Answer {
    let mut answer = Answer { status: 0, headers: std::collections::BTreeMap::new(), body: Vec::new() };
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    answer.status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        answer.headers.entry(name.to_ascii_lowercase()).or_default().push(value.to_owned());
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        while read_chunk(stream, &mut answer.body) {}
        return answer;
    }
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    answer.body = vec![0; length.unwrap_or_else(|| panic!("an answer that ends is wanted: {answer:?}"))];
    stream.read_exact(&mut answer.body).unwrap();
    answer
}

/// Whether another chunk follows.
fn read_chunk(stream: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> bool {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let size = u64::from_str_radix(line.trim_end(), 16).unwrap();
    stream.by_ref().take(size).read_to_end(body).unwrap();
    stream.read_line(&mut line).unwrap();
    size > 0
}
