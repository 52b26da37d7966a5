//! Work on a file that never ends: its time is up, or its client leaves.

use crate::limits::{becomes_busy, becomes_calm, cpu};
use crate::raw::{connect, post};
use crate::server::{Server, Setup};
use serde_json::json;
use std::io::{Read, Write};

fn server() -> Server {
    let policy = r#"{"base_dir":"{base}","defaults":{"limits":{"timeout_seconds":1,"max_duration_seconds":1,"max_bytes":"2TiB"}},
        "endpoints":{"files_archive":{"limits":{"timeout_seconds":3600}}}}"#;
    let server = Setup::new().policy(policy).start();
    let mut file = std::fs::File::create(server.base().join("endless")).unwrap();
    // One line of text, and behind it a hole.
    file.write_all(&[b'x'; 16 << 10]).unwrap();
    file.set_len(1 << 40).unwrap();
    server
}

/// Case 128.
#[test]
fn row_128_a_search_for_text_ends_in_time() {
    let server = server();
    let found = post(server.port, "/files/grep", r#"{"pattern":"nowhere"}"#);
    assert_eq!(found.json(), json!({"matches": [], "timed_out": true, "truncated": true}), "{found:?}");
    assert!(becomes_calm(&server), "it goes on reading");
}

#[test]
fn a_transfer_ends_in_time_and_never_looks_whole() {
    let server = server();
    for target in ["/files/download-stream?path=endless", "/v2/sandboxes/box/download?path=endless"] {
        let mut stream = connect(server.port);
        write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let (mut piece, mut read) = (vec![0; 1 << 20], 0);
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            read += length;
        }
        assert!(read > 1 << 16, "{target}: {read}");
    }
    assert!(becomes_calm(&server), "it goes on reading");
}

/// Case 40.
#[test]
fn row_40_packing_stops_when_the_client_leaves() {
    let server = server();
    for format in ["tar.gz", "zip"] {
        let body = json!({"paths": ["endless"], "format": format}).to_string();
        let (before, mut stream) = (cpu(&server), connect(server.port));
        write!(
            stream,
            "POST /files/archive HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        assert!(becomes_busy(&server, before), "{format}: it never packs");
        drop(stream);
        assert!(becomes_calm(&server), "{format}: it goes on packing");
    }
    let policy = r#"{"base_dir":"{base}","endpoints":{"files_archive":{"limits":{"timeout_seconds":1,"max_bytes":"1TiB"}}}}"#;
    let server = Setup::new().policy(policy).start();
    std::fs::File::create(server.base().join("endless")).unwrap().set_len(1 << 40).unwrap();
    let late = post(server.port, "/files/archive", r#"{"paths":["endless"]}"#);
    let right = json!({"error": "The time limit passed", "type": "TimeoutError", "code": "timeout"});
    assert_eq!((late.status, late.json()), (408, right));
}
