//! Terminals, as their clients: each server has frames of its own.

use crate::client::{self, Http, Socket};
use crate::peers::{Kind, Peer};
use crate::{limits, work};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

/// A shell on a terminal; of the floor, a `cat`.
fn open(peer: &Peer) -> Socket {
    match peer.kind {
        Kind::Ours => {
            let mut http = Http::connect(peer);
            http.post("/pty/sessions", r#"{"shell":"/bin/sh"}"#);
            let session: serde_json::Value = serde_json::from_slice(&http.body()).unwrap();
            client::socket(
                peer,
                &format!("/pty?session_id={}", session["session_id"].as_str().unwrap()),
                None,
            )
        }
        Kind::Ttyd => {
            let url = format!("ws://localhost:{}/ws", peer.port);
            let mut request = url.into_client_request().unwrap();
            request.headers_mut().insert("sec-websocket-protocol", "tty".parse().unwrap());
            let mut socket = client::connect(peer, request);
            let hello = json!({"AuthToken": "", "columns": 80, "rows": 24}).to_string();
            socket.send(Message::Binary(hello.into_bytes().into())).unwrap();
            socket
        }
        _ => client::socket(peer, "/pty", None),
    }
}

fn type_in(socket: &mut Socket, kind: Kind, text: &str) {
    let frame = match kind {
        Kind::Ttyd => Message::Binary(format!("0{text}").into_bytes().into()),
        _ => Message::Text(json!({"type": "input", "data": text}).to_string().into()),
    };
    socket.send(frame).unwrap();
}

/// A terminal in which this has been typed.
pub(crate) fn run(peer: &Peer, text: &str) -> Socket {
    let mut socket = open(peer);
    type_in(&mut socket, peer.kind, text);
    socket
}

/// A file on a terminal; the limit reads the terminal itself. Megabytes of the file a second.
pub(crate) fn frames(peer: &Peer) -> f64 {
    let file = peer.dir.join("screen");
    if peer.kind == Kind::Limit {
        return limits::screen(&file);
    }
    let mut socket = open(peer);
    let begun = Instant::now();
    // The last character is one that nothing else shows. The shell lives on until then: ttyd drops the last kilobytes of one
    // that exits.
    let command = format!("stty -opost; cat {}; printf '\\176'\n", file.display());
    type_in(&mut socket, peer.kind, &command);
    let bytes = client::frames(&mut socket, Some(b'~'));
    let speed = work::megabytes(work::SCREEN, begun);
    assert!(bytes > work::SCREEN, "{bytes} bytes of frames");
    type_in(&mut socket, peer.kind, "exit\n");
    speed
}

/// Microseconds from a key to its echo.
pub(crate) fn echo(peer: &Peer) -> f64 {
    let mut socket = open(peer);
    if peer.kind != Kind::Axum {
        type_in(&mut socket, peer.kind, "exec cat\n");
    }
    settle(&mut socket);
    let times = (0..1000).map(|_| key(&mut socket, peer.kind).as_secs_f64() * 1e6).collect();
    work::median(times)
}

/// Reads until nothing has come for a while.
fn settle(socket: &mut Socket) {
    socket.get_mut().set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    while socket.read().is_ok() {}
    socket.get_mut().set_read_timeout(None).unwrap();
}

/// A key, and its echo.
fn key(socket: &mut Socket, kind: Kind) -> Duration {
    let begun = Instant::now();
    type_in(socket, kind, "k");
    loop {
        let shown = match socket.read().unwrap() {
            Message::Binary(data) => data.starts_with(b"0"),
            Message::Text(text) => text.contains("\"output\""),
            _ => false,
        };
        if shown {
            return begun.elapsed();
        }
    }
}
