//! What is done to each of them, and how fast it went.

use crate::client::{self, Http};
use crate::peers::{Kind, Peer};
use crate::{limits, mux};
use serde_json::json;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of a command's output.
pub(crate) const STREAM: usize = 128 << 20;

/// Bytes of a terminal, which is slower.
pub(crate) const SCREEN: usize = 32 << 20;

/// Bytes of a file.
pub(crate) const FILE: usize = 1 << 30;

/// Bytes through a tunnel.
const TUNNEL: usize = 512 << 20;

/// Puts what is sent in place: lines of 72 bytes, and a file.
pub(crate) fn prepare(dir: &Path) {
    let line = format!("{}\n", "0123456789".repeat(8).split_at(71).0);
    for (name, size) in [("lines", STREAM), ("screen", SCREEN)] {
        std::fs::write(dir.join(name), line.repeat(size.div_ceil(line.len()))).unwrap();
    }
    std::fs::create_dir(dir.join("base")).unwrap();
    std::fs::write(dir.join("base/file"), vec![b'x'; FILE]).unwrap();
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(crate) fn megabytes(bytes: usize, begun: Instant) -> f64 {
    bytes as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

/// How often `true` runs in a second.
pub(crate) fn shell(peer: &Peer, connections: usize) -> f64 {
    let until = Instant::now() + Duration::from_secs(2);
    let call = || {
        let (mut http, mut calls) = (Http::connect(peer), 0.0);
        while Instant::now() < until {
            http.post("/shell", r#"{"command":"true"}"#);
            assert!(http.body().len() > 10);
            calls += 1.0;
        }
        calls
    };
    let calls: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(call)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    calls / 2.0
}

/// A command whose output comes as events: one a line, or in base64.
pub(crate) fn start(peer: &Peer, lines: bool, command: &str) -> Http {
    let format = if lines { "lines" } else { "bytes" };
    let mut http = Http::connect(peer);
    http.post("/shell/stream", &json!({"command": command, "format": format}).to_string());
    http
}

/// Lines of a file through an event stream: megabytes over the wire.
pub(crate) fn events(peer: &Peer, lines: bool) -> f64 {
    let begun = Instant::now();
    let mut http = start(peer, lines, &format!("cat {}", peer.dir.join("lines").display()));
    let bytes = http.drain();
    assert!(bytes > STREAM, "{bytes} bytes of events");
    megabytes(bytes, begun)
}

/// Microseconds until the first line of a command has come.
pub(crate) fn first_event(peer: &Peer) -> f64 {
    let time = |_| {
        let begun = Instant::now();
        let mut http = start(peer, true, "echo line");
        http.event();
        let time = begun.elapsed();
        // A reader who leaves would have the server look for what is to be ended, and the next one wait for that.
        http.finish();
        time.as_secs_f64() * 1e6
    };
    median((0..200).map(time).collect())
}

/// A command on the socket of the data plane.
pub(crate) fn run(peer: &Peer, command: &[&str]) -> client::Socket {
    let mut socket = client::socket(peer, "/v2/sandboxes/box/execute/ws", None);
    let execute =
        json!({"type": "execute", "command": command, "ttl_seconds": 1, "idle_timeout_seconds": 300});
    socket.send(execute.to_string().into()).unwrap();
    socket
}

/// The same file through the socket of a command.
pub(crate) fn command_socket(peer: &Peer) -> f64 {
    let begun = Instant::now();
    let bytes = client::frames(&mut run(peer, &["cat", peer.dir.join("lines").to_str().unwrap()]), None);
    assert!(bytes > STREAM, "{bytes} bytes of frames");
    megabytes(bytes, begun)
}

/// A file down.
pub(crate) fn download(peer: &Peer) -> f64 {
    let begun = Instant::now();
    let path = match peer.kind {
        Kind::Nginx => "/file".to_owned(),
        Kind::Ours => format!("/v2/sandboxes/box/download?path={}", peer.dir.join("base/file").display()),
        _ => format!("/download?path={}", peer.dir.join("base/file").display()),
    };
    let mut http = Http::connect(peer);
    http.get(&path);
    assert_eq!(http.drain(), FILE);
    megabytes(FILE, begun)
}

/// A file up; the limit receives and writes, and speaks no HTTP.
pub(crate) fn upload(peer: &Peer) -> f64 {
    let piece = vec![b'y'; 1 << 20];
    if peer.kind == Kind::Limit {
        return limits::receive(&piece, FILE, &peer.dir);
    }
    let (head, tail) =
        ("--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n", "\r\n--xx--\r\n");
    let begun = Instant::now();
    let mut http = Http::connect(peer);
    let length = head.len() + FILE + tail.len();
    http.head(
        "POST",
        "/v2/sandboxes/box/upload?path=up",
        &format!("Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: {length}\r\n"),
    );
    http.stream.get_mut().write_all(head.as_bytes()).unwrap();
    for _ in 0..FILE / piece.len() {
        http.stream.get_mut().write_all(&piece).unwrap();
    }
    http.stream.get_mut().write_all(tail.as_bytes()).unwrap();
    assert!(http.body().starts_with(b"{\"path\""));
    let speed = megabytes(FILE, begun);
    std::fs::remove_file(peer.dir.join("base/up")).unwrap();
    speed
}

/// What a port sends, through a tunnel to it alone, or as one stream of many.
pub(crate) fn tunnel(peer: &Peer, stream: bool) -> f64 {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = port.local_addr().unwrap().port();
    let sender = std::thread::spawn(move || {
        let (mut stream, _) = port.accept().unwrap();
        let piece = vec![b'z'; 256 << 10];
        for _ in 0..TUNNEL / piece.len() {
            stream.write_all(&piece).unwrap();
        }
    });
    let begun = Instant::now();
    let bytes = if stream && peer.kind == Kind::Ours {
        mux::read(&mut client::socket(peer, "/tunnel", None), number)
    } else {
        client::frames(&mut client::socket(peer, "/tunnel", Some(number)), None)
    };
    let speed = megabytes(bytes, begun);
    sender.join().unwrap();
    assert_eq!(bytes, TUNNEL);
    speed
}
