//! WebSockets byte by byte: what comes before the upgrade, and frames that break the protocol.

use crate::raw::{Answer, connect, post, read_all};
use crate::server::{PATIENCE, Server, Setup};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub fn handshake(target: &str, headers: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )
}

/// The answer to a handshake that is refused.
fn refused(port: u16, target: &str, headers: &str) -> Answer {
    let mut stream = connect(port);
    stream.write_all(handshake(target, headers).as_bytes()).unwrap();
    read_all(&mut stream).only().clone()
}

pub fn session(server: &Server) -> String {
    let answer = post(server.port, "/pty/sessions", r#"{"shell":"/bin/sh"}"#);
    answer.json()["session_id"].as_str().unwrap_or_else(|| panic!("{}", answer.json())).to_owned()
}

#[test]
fn row_175_the_pipeline_comes_before_the_upgrade() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"pty_connect":{"limits":{"rate_per_minute":2}}},"auth":{"tokens":[
        {"id":"a","token_env":"A","scopes":["terminal:use","process:run"]},{"id":"b","token_env":"B","scopes":["files:read"]}]}}"#;
    let server = Setup::new().policy(policy).env("A", "token-a").env("B", "token-b").start();
    for port in [server.port, server.pty_port.unwrap()] {
        let ask = |headers: &str| {
            let answer = refused(port, "/pty?session_id=0123456789abcdef0123456789abcdef", headers);
            (answer.status, answer.code())
        };
        assert_eq!(ask(""), (401, "unauthorized".to_owned()));
        assert_eq!(ask("X-Access-Token: wrong\r\n"), (401, "unauthorized".to_owned()));
        assert_eq!(ask("X-Access-Token: token-b\r\n"), (403, "missing_scope".to_owned()));
        let found = ask("X-Access-Token: token-a\r\n");
        // One budget of two calls for both ports.
        let wanted = if port == server.port { (404, "not_found") } else { (429, "rate_limited") };
        if port == server.port {
            assert_eq!(found, (wanted.0, wanted.1.to_owned()));
        } else {
            assert_eq!(found, (404, "not_found".to_owned()));
            assert_eq!(ask("X-Access-Token: token-a\r\n"), (wanted.0, wanted.1.to_owned()));
        }
    }
    let closed = Setup::new().policy(r#"{"endpoints":{"pty_connect":false,"tunnel_connect":false}}"#).start();
    for target in ["/pty?session_id=x", "/tunnel"] {
        assert_eq!(refused(closed.port, target, "").code(), "endpoint_disabled", "{target}");
    }
}

#[test]
fn row_176_ids_are_long_and_unknown_ones_are_alike() {
    let server = Setup::new().start();
    let id = session(&server);
    assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "128 bits at least: {id}");
    let near = format!("{}{}", &id[..id.len() - 1], if id.ends_with('0') { '1' } else { '0' });
    let answers: Vec<_> = [near.as_str(), "x", "0", &"f".repeat(200), "%00"]
        .iter()
        .map(|id| refused(server.port, &format!("/pty?session_id={id}"), ""))
        .map(|answer| (answer.status, answer.json()))
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 404), "{answers:#?}");
}

/// The code of the close frame that a terminal's socket answers to some bytes.
fn close_code(server: &Server, bytes: &[u8]) -> Option<u16> {
    let id = session(server);
    let code = answered(server.port, &handshake(&format!("/pty?session_id={id}"), ""), bytes);
    crate::raw::request(server.port, "DELETE", &format!("/pty/sessions/{id}"), &[], None);
    code
}

/// The same of the tunnel, to a port where nobody says anything.
fn tunnel_code(server: &Server, bytes: &[u8]) -> Option<u16> {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let header = format!("X-Sandbox-Port: {}\r\n", silent.local_addr().unwrap().port());
    answered(server.port, &handshake("/tunnel", &header), bytes)
}

/// The same of a command's socket.
fn command_code(server: &Server, bytes: &[u8]) -> Option<u16> {
    answered(server.port, &handshake("/v2/sandboxes/box/execute/ws", ""), bytes)
}

/// `None` where the connection ends without a close frame.
fn answered(port: u16, handshake: &str, bytes: &[u8]) -> Option<u16> {
    let mut stream = connect(port);
    stream.write_all(handshake.as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    // A server that has seen enough may close while we still send.
    let _ = stream.write_all(bytes);
    frames(&mut stream)
}

/// Reads frames up to the close frame, and gives its code.
pub fn frames(stream: &mut TcpStream) -> Option<u16> {
    loop {
        if let (8, payload) = next(stream)? {
            return payload.first_chunk().map(|code| u16::from_be_bytes(*code));
        }
    }
}

/// The opcode and payload of the next frame; `None` where the connection ends.
pub fn next(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let mut length = u64::from(head[1] & 0x7f);
    if length == 126 {
        let mut more = [0; 2];
        stream.read_exact(&mut more).ok()?;
        length = u64::from(u16::from_be_bytes(more));
    } else if length == 127 {
        let mut more = [0; 8];
        stream.read_exact(&mut more).ok()?;
        length = u64::from_be_bytes(more);
    }
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload).ok()?;
    Some((head[0] & 0x0f, payload))
}

/// A frame with an empty mask, so that its payload can be read here.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, 0x80 | u8::try_from(payload.len()).unwrap(), 0, 0, 0, 0], payload].concat()
}

#[test]
fn row_178_broken_frames_are_answered_by_their_codes() {
    let server = Setup::new().start();
    for (what, bytes, code) in [
        ("no mask", b"\x81\x02hi".to_vec(), 1002),
        ("a reserved bit", frame(0xc1, b"hi"), 1002),
        ("an opcode that is none", frame(0x83, b"hi"), 1002),
        ("a control frame in parts", frame(0x09, b"hi"), 1002),
        (
            "a control frame that is too long",
            [&[0x89, 0xfe, 0, 126, 0, 0, 0, 0][..], &[0; 126]].concat(),
            1002,
        ),
        ("a part of nothing", frame(0x80, b"hi"), 1002),
        ("text that is no UTF-8", frame(0x81, b"\xff\xfe"), 1007),
        ("a close code that is none", frame(0x88, &999_u16.to_be_bytes()), 1002),
        ("half a close code", frame(0x88, b"\x03"), 1002),
        ("a farewell, which is answered", frame(0x88, &1000_u16.to_be_bytes()), 1000),
        ("a farewell for a reason of its own", frame(0x88, &4321_u16.to_be_bytes()), 4321),
    ] {
        assert_eq!(close_code(&server, &bytes), Some(code), "{what}");
        assert_eq!(tunnel_code(&server, &bytes), Some(code), "{what}, to the tunnel");
        assert_eq!(command_code(&server, &bytes), Some(code), "{what}, to a command");
    }
}

#[test]
fn row_179_a_message_has_a_bound() {
    let server = Setup::new().start();
    let announced = |length: u64| [&[0x81, 0xff][..], &length.to_be_bytes(), &[0; 4], b"x"].concat();
    for length in [64 << 20, 1 << 62] {
        assert_eq!(close_code(&server, &announced(length)), Some(1009));
        assert_eq!(tunnel_code(&server, &announced(length)), Some(1009));
        assert_eq!(command_code(&server, &announced(length)), Some(1009));
    }
    let mut parts = frame(0x01, b"x");
    for _ in 0..40_000 {
        parts.extend(frame(0x00, &[b'x'; 100]));
    }
    assert_eq!(close_code(&server, &parts), Some(1009));
}

#[test]
fn row_184_a_handshake_has_a_bound() {
    let server = Setup::new().start();
    for port in [server.port, server.pty_port.unwrap()] {
        let begun = Instant::now();
        let mut stream = connect(port);
        let flood = handshake("/pty?session_id=x", &format!("X-Long: {}\r\n", "x".repeat(20 << 20)));
        let _ = stream.write_all(flood.as_bytes());
        let exchange = read_all(&mut stream);
        assert!(
            exchange.closed && exchange.answers.iter().all(|answer| answer.status == 431),
            "{exchange:?}"
        );
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    }
}

#[test]
fn row_181_a_flood_of_pings_is_bounded() {
    let server = Setup::new().start();
    let id = session(&server);
    let mut stream = connect(server.port);
    stream.write_all(handshake(&format!("/pty?session_id={id}"), "").as_bytes()).unwrap();
    let pings = if crate::server::full() { 1_000_000 } else { 50_000 };
    let reader = stream.try_clone().unwrap();
    reader.set_read_timeout(Some(PATIENCE)).unwrap();
    // Answers are taken as they come, so that neither side waits for the other.
    let answered = std::thread::spawn(move || frames(&mut reader_past_head(reader)));
    let batch = frame(0x89, b"ping").repeat(1000);
    for _ in 0..pings / 1000 {
        stream.write_all(&batch).unwrap();
    }
    assert_eq!(crate::raw::get(server.port, "/health").status, 200);
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: u64 = memory.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 200_000, "{kilobytes} kB");
    stream.write_all(&frame(0x88, &1000_u16.to_be_bytes())).unwrap();
    assert_eq!(answered.join().unwrap(), Some(1000));
}

/// The stream behind the head of the answer.
pub fn reader_past_head(mut stream: TcpStream) -> TcpStream {
    let mut last = [0; 4];
    while last != *b"\r\n\r\n" {
        last.rotate_left(1);
        stream.read_exact(&mut last[3..]).unwrap();
    }
    stream
}

#[test]
fn row_185_a_socket_ends_at_its_limits() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"pty_connect":{"limits":{"max_duration_seconds":1}},
        "tunnel_connect":{"limits":{"max_duration_seconds":1}}}}"#;
    let server = Setup::new().policy(policy).start();
    let begun = Instant::now();
    assert_eq!(close_code(&server, b""), Some(1008));
    assert!((1..40).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(tunnel_code(&server, b""), Some(1008), "the tunnel after a second");
    let policy = r#"{"base_dir":"{base}","endpoints":{"tunnel_connect":{"limits":{"max_bytes":1000}}}}"#;
    let server = Setup::new().policy(policy).start();
    assert_eq!(
        tunnel_code(&server, &frame(0x82, &[0; 100]).repeat(11)),
        Some(1008),
        "the tunnel after 1,000 bytes"
    );
}

#[test]
fn a_place_is_free_once_its_socket_has_said_farewell() {
    let one = r#"{"limits":{"max_concurrency":1,"rate_per_minute":100000}}"#;
    let policy = format!(
        r#"{{"endpoints":{{"pty_connect":{one},"tunnel_connect":{one},"shell_stream":{one},"pty_create":{{"limits":{{"rate_per_minute":100000}}}}}}}}"#
    );
    let server = Setup::new().policy(&policy).start();
    for _ in 0..20 {
        // Whichever side says it first.
        for (bytes, code) in [(frame(0x88, &1000_u16.to_be_bytes()), 1000), (b"\x81\x02hi".to_vec(), 1002)] {
            assert_eq!(close_code(&server, &bytes), Some(code));
            assert_eq!(tunnel_code(&server, &bytes), Some(code), "the tunnel");
            assert_eq!(command_code(&server, &bytes), Some(code), "a command");
        }
    }
}

// runtime 14
#[test]
fn row_14_no_frame_is_as_large_as_a_message_may_be() {
    let server = Setup::new().start();
    let id = session(&server);
    let mut stream = connect(server.port);
    stream.write_all(handshake(&format!("/pty?session_id={id}"), "").as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = reader_past_head(stream);
    let input = br#"{"type":"input","data":"head -c 3000000 /dev/zero | tr '\\0' x; exit\n"}"#;
    stream.write_all(&frame(0x81, input)).unwrap();
    let (mut seen, mut largest) = (0, 0);
    loop {
        let Some((opcode, payload)) = next(&mut stream) else {
            panic!("the socket broke after {seen} bytes")
        };
        if opcode == 8 {
            assert_eq!(payload.first_chunk(), Some(&1000_u16.to_be_bytes()));
            break;
        }
        largest = largest.max(payload.len());
        let said: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        seen += said["data"].as_str().unwrap_or_default().matches('x').count();
    }
    assert!(seen >= 3_000_000 && largest < 1 << 20, "{seen} bytes, the largest frame {largest}");
}
