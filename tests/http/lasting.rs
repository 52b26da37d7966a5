//! Sockets that last: a client that is silent, and a token that is taken away under an open socket.

use crate::raw::{connect, request};
use crate::server::{Server, Setup, full};
use crate::sockets::{frame, frames, handshake, next, reader_past_head};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Every kind of socket, open, with what it is called. What the tunnel leads to says nothing.
fn sockets(server: &Server, token: &str, silent: &TcpListener) -> Vec<(&'static str, TcpStream)> {
    let header = format!("X-Access-Token: {token}\r\n");
    let headers = [("X-Access-Token", token), ("Content-Type", "application/json")];
    let session = request(server.port, "POST", "/pty/sessions", &headers, Some(br#"{"shell":"/bin/sh"}"#));
    let id = session.json()["session_id"].as_str().unwrap().to_owned();
    let to_port = format!("{header}X-Sandbox-Port: {}\r\n", silent.local_addr().unwrap().port());
    let open = |target: &str, headers: &str| {
        let mut stream = connect(server.port);
        stream.write_all(handshake(target, headers).as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        reader_past_head(stream)
    };
    let mut command = open("/api/v2/sandboxes/box/execute/ws", &header);
    let execute = json!({"type": "execute", "command": ["sleep", "600"]}).to_string();
    command.write_all(&frame(0x81, execute.as_bytes())).unwrap();
    let (_, started) = next(&mut command).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&started).unwrap()["type"], "started");
    vec![
        ("terminal", open(&format!("/pty?session_id={id}"), &header)),
        ("command", command),
        ("raw tunnel", open("/tunnel", &to_port)),
        ("tunnel", open("/api/v2/sandboxes/box/tunnel", &header)),
    ]
}

fn policy(ids: &[&str]) -> String {
    let tokens: Vec<Value> = ids
        .iter()
        .map(
            |id| json!({"id": id, "token_env": id.to_uppercase(), "scopes": ["terminal:use", "process:run"]}),
        )
        .collect();
    json!({"base_dir": "{base}", "auth": {"tokens": tokens}}).to_string()
}

fn start() -> Server {
    Setup::new().policy(&policy(&["a", "b"])).env("A", "token-a").env("B", "token-b").start()
}

// security 181
#[test]
fn row_181_no_pong_for_a_minute() {
    if !full() {
        return; // a minute, which the clock of a unit test jumps over
    }
    let (server, silent) = (start(), TcpListener::bind("127.0.0.1:0").unwrap());
    let begun = Instant::now();
    let waiting: Vec<_> = sockets(&server, "token-a", &silent)
        .into_iter()
        .map(|(what, mut stream)| {
            std::thread::spawn(move || {
                let mut pings = 0;
                loop {
                    match next(&mut stream) {
                        Some((9, _)) => pings += 1,
                        Some((8, payload)) => return (what, pings, payload, begun.elapsed()),
                        Some(_) => {}
                        None => panic!("{what}: no farewell"),
                    }
                }
            })
        })
        .collect();
    for socket in waiting {
        let (what, pings, payload, after) = socket.join().unwrap();
        assert_eq!(payload.first_chunk(), Some(&1001_u16.to_be_bytes()), "{what}");
        assert!(pings >= 2 && (44..62).contains(&after.as_secs()), "{what}: {pings} pings, {after:?}");
    }
}

// security 185
#[test]
fn row_185_a_token_that_a_reload_takes_away_closes_its_sockets() {
    let (server, silent) = (start(), TcpListener::bind("127.0.0.1:0").unwrap());
    let taken = sockets(&server, "token-a", &silent);
    let mut kept = sockets(&server, "token-b", &silent);
    let path = server.dir.path().join("policy.yaml");
    let base = server.base().display().to_string();
    // A reload that changes nothing for anybody closes nothing.
    server.signal("HUP");
    server.wait_for("policy reloaded");
    std::fs::write(&path, policy(&["b"]).replace("{base}", &base)).unwrap();
    server.signal("HUP");
    for (what, mut stream) in taken {
        assert_eq!(frames(&mut stream), Some(1008), "{what}");
    }
    for (what, stream) in &mut kept {
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        stream.write_all(&frame(0x89, b"there?")).unwrap();
        let pong = std::iter::from_fn(|| next(stream)).find(|(opcode, _)| matches!(opcode, 8 | 10));
        assert_eq!(pong, Some((10, b"there?".to_vec())), "{what}");
    }
    for (what, stream) in &mut kept {
        stream.write_all(&frame(0x88, &1000_u16.to_be_bytes())).unwrap();
        assert!(frames(stream).is_some(), "{what}");
    }
    // And the log knows when each was opened and closed, and what it carried.
    let ended = server.wait_for("\"endpoint\":\"tunnel_connect\"");
    let ended: Value = serde_json::from_str(&ended).unwrap();
    assert!(ended["bytes_in"].is_u64() && ended["bytes_out"].is_u64(), "{ended}");
}
