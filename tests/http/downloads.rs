//! Downloads and uploads over the wire: names of any kind, files with other names, and much in little memory.

use crate::raw::{connect, get, request};
use crate::server::{Server, Setup, full};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt as _;

/// `%` and two digits for every byte.
fn escaped(name: &[u8]) -> String {
    name.iter().map(|byte| format!("%{byte:02X}")).collect()
}

// runtime 41, security 88
#[test]
fn rows_41_and_88_any_name_is_one_well_formed_header() {
    let server = Setup::new().start();
    for (name, shown) in [
        (
            "报告 final.txt".as_bytes(),
            "attachment; filename=\"__ final.txt\"; filename*=UTF-8''%E6%8A%A5%E5%91%8A%20final.txt",
        ),
        (b"page.html", "attachment; filename=\"page.html\"; filename*=UTF-8''page.html"),
        (b"a\r\nSet-Cookie: x=1\r\n\r\n<b>", ""),
        (b"\"; filename=\"b.exe", ""),
        (b"a\\\"b;c=d", ""),
        (b"bad-\xff", ""),
        (b"\x1b[2J\x7f", ""),
    ] {
        std::fs::write(server.base().join(std::ffi::OsStr::from_bytes(name)), "text").unwrap();
        let answer = get(server.port, &format!("/v2/sandboxes/box/download?path={}", escaped(name)));
        // Read by a strict reader of heads: a name that broke out of its line would be a header of its own.
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"text".as_slice()), "{answer:?}");
        assert_eq!(answer.headers.get("set-cookie"), None);
        let given = &answer.headers["content-disposition"];
        assert_eq!(given.len(), 1, "{given:?}");
        let value = &given[0];
        if !shown.is_empty() {
            assert_eq!(value, shown);
        }
        let (plain, extended) = value.split_once("; filename*=UTF-8''").unwrap_or((value, ""));
        let quoted = plain.strip_prefix("attachment; filename=\"").and_then(|rest| rest.strip_suffix('"'));
        let quoted = quoted.unwrap_or_else(|| panic!("{value}"));
        assert!(
            quoted.bytes().all(|byte| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\'),
            "{value}"
        );
        assert!(
            extended.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%-._~!#$&+^`|".contains(&byte)),
            "{value}"
        );
        assert_eq!(answer.headers["x-content-type-options"], ["nosniff"]);
        assert_eq!(answer.headers["content-security-policy"], ["sandbox; default-src 'none'"]);
    }
}

// security 22
#[test]
fn row_22_a_read_by_a_hard_link_is_audited_with_the_link_count() {
    let server = Setup::new().file("one.txt", "text").file("../outside.txt", "canary").start();
    std::fs::hard_link(server.dir.path().join("outside.txt"), server.base().join("h")).unwrap();
    for door in ["/download", "/files/download-stream", "/v2/sandboxes/box/download"] {
        for (path, links) in [("h", json!(2)), ("one.txt", Value::Null)] {
            let answer = get(server.port, &format!("{door}?path={path}"));
            assert_eq!(answer.status, 200, "{answer:?}");
            let line = server.audit_of(&answer.headers["x-request-id"][0]);
            assert_eq!(line["links"], links, "{line}");
        }
    }
}

/// The most memory that the server has had, in KiB.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

// runtime 42
#[test]
fn row_42_much_goes_both_ways_in_little_memory() {
    let size: usize = if full() { 300_000_000 } else { 120_000_000 };
    let policy = r#"{"base_dir":"{base}","endpoints":{"files_upload_stream":{"limits":{"max_bytes":"400MB","max_request_bytes":"600MB"}}}}"#;
    let server = Setup::new().policy(policy).start();
    let before = peak(&server);
    let piece: Vec<u8> = (0..1_000_000_usize).map(|at| (at % 251) as u8).collect();

    // Up, as it is.
    let head = b"--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
    let tail = b"\r\n--xx--\r\n";
    let mut stream = connect(server.port);
    let length = head.len() + size + tail.len();
    write!(
        stream,
        "POST /v2/sandboxes/box/upload?path=big HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\
         Content-Type: multipart/form-data; boundary=xx\r\n\r\n"
    )
    .unwrap();
    stream.write_all(head).unwrap();
    for _ in 0..size / piece.len() {
        stream.write_all(&piece).unwrap();
    }
    stream.write_all(tail).unwrap();
    let answer = crate::raw::read_all(&mut stream).only().clone();
    assert_eq!(answer.json()["bytes"], size, "{answer:?}");

    // Down again, as it is and as base64.
    for (door, expected) in [("/v2/sandboxes/box/download", size), ("/files/download-stream", size / 3 * 4)] {
        let mut stream = connect(server.port);
        write!(stream, "GET {door}?path=big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let (mut read, mut buffer) = (0, vec![0; 1 << 20]);
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => break,
                some => read += some,
            }
        }
        assert!((expected..expected + 1000).contains(&read), "{door}: {read} bytes");
    }

    // What is beyond the cap is refused before it is decoded, and before it is sent.
    let mut stream = connect(server.port);
    let head = format!(
        "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        size / 3 * 4 + 100
    );
    stream.write_all(head.as_bytes()).unwrap();
    // It may have been refused and closed by now.
    let _ = stream.write_all(br#"{"path": "b64", "content_base64": ""#);
    let answer = crate::raw::read_all(&mut stream).only().clone();
    assert_eq!((answer.status, answer.code()), (413, "request_too_large".to_owned()));
    assert_eq!(request(server.port, "GET", "/files/stat?path=b64", &[], None).json()["exists"], false);

    let peak = peak(&server);
    assert!(peak < 64 << 10, "{peak} KiB at its most, {before} before");
}
