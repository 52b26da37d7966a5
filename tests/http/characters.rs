//! Characters that a program prints in pieces, and bytes that are none, at every door that shows text.

use crate::raw::{get, post};
use crate::server::{Server, Setup};
use crate::terminal_sockets::{Socket, attach, next, open, say};
use serde_json::{Value, json};

/// A character in two writes, a byte that is none, and the beginning of a character without its end.
const PIECES: (&str, &str) = (
    "printf '\\303'; sleep 0.05; printf '\\251 \\377'; sleep 0.05; printf ' \\342\\202'",
    "é \u{fffd} \u{fffd}",
);

/// Nearly a mebibyte of characters that are three bytes long; no read ends between them but by chance.
const WIDE: (&str, &str, usize) = ("yes 報告書 | head -n 100000 | tr -d '\\n'", "報告書", 100_000);

/// What a door shows of a script.
type Show = fn(&Server, &str) -> String;

const DOORS: [(&str, Show); 5] = [
    ("/shell", |server, script| {
        let ran = post(server.port, "/shell", &json!({"command": format!("sh {script}")}).to_string());
        ran.json()["stdout"].as_str().unwrap().to_owned()
    }),
    ("/shell/stream", |server, script| {
        let ran = post(server.port, "/shell/stream", &json!({"command": format!("sh {script}")}).to_string());
        shown(&String::from_utf8(ran.body).unwrap())
    }),
    ("/process/{pid}/output", |server, script| {
        let body = json!({"command": format!("sh {script}")}).to_string();
        let started = post(server.port, "/process/start", &body).json();
        let events = get(server.port, &format!("/process/{}/output?follow=true", started["pid"]));
        shown(&String::from_utf8(events.body).unwrap())
    }),
    ("/pty", |server, script| {
        let id = open(server, &json!({"shell": "/bin/sh", "env": {"PS1": ""}}));
        let mut socket = attach(server.port, &id, "");
        // What is printed begins behind the echo of what was typed, which does not hold the mark.
        say(
            &mut socket,
            &json!({"type": "input", "data": format!("printf '\\001'; sh {script}; printf '\\002'; exit\n")}),
        );
        let (_, printed) = said(&mut socket, "output").split_once('\u{1}').map(own).unwrap();
        printed.split_once('\u{2}').unwrap().0.to_owned()
    }),
    ("/execute/ws", |server, script| {
        let url = format!("ws://localhost:{}/v2/sandboxes/box/execute/ws", server.port);
        let (mut socket, _) = tokio_tungstenite::tungstenite::connect(&url).unwrap();
        say(&mut socket, &json!({"type": "execute", "command": format!("sh {script}")}));
        said(&mut socket, "stdout")
    }),
];

fn own((before, behind): (&str, &str)) -> (String, String) {
    (before.to_owned(), behind.to_owned())
}

/// The data of all events for standard output.
fn shown(events: &str) -> String {
    let data = events.split("event: stdout\ndata: ").skip(1).map(|event| {
        let data: Value = serde_json::from_str(event.lines().next().unwrap()).unwrap();
        data["data"].as_str().unwrap().to_owned()
    });
    data.collect()
}

/// The data of all frames of a type.
fn said(socket: &mut Socket, kind: &str) -> String {
    let frames = std::iter::from_fn(|| next(socket).ok()).filter(|frame| frame["type"] == kind);
    frames.map(|frame| frame["data"].as_str().unwrap().to_owned()).collect()
}

// runtime 10, security 140
#[test]
fn row_10_no_character_is_cut_and_what_is_none_is_marked_once() {
    let setup = Setup::new().file("pieces.sh", PIECES.0).file("wide.sh", WIDE.0);
    let server = setup.start();
    for (door, show) in DOORS {
        assert_eq!(show(&server, "pieces.sh"), PIECES.1, "{door}");
        let wide = show(&server, "wide.sh");
        let (text, count) = (WIDE.1, WIDE.2);
        assert!(wide == text.repeat(count), "{door}: {} bytes of {}", wide.len(), text.len() * count);
    }
}
