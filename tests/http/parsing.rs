//! HTTP parsing and routing, byte by byte. Every test checks that nothing meant as a body was answered as a request.

use crate::raw::{Exchange, connect, exchange, get, post, read_answers, request};
use crate::server::{Server, Setup};
use std::io::Write;

fn server() -> Server {
    Setup::new().start()
}

fn head(lines: &str) -> Vec<u8> {
    format!("{lines}\r\n\r\n").into_bytes()
}

/// Refused, once, and the connection is closed.
fn refused(exchange: &Exchange, statuses: &[u16], what: &str) {
    assert!(exchange.closed, "{what}: the connection stays open: {exchange:?}");
    let answer = exchange.only();
    assert!(statuses.contains(&answer.status), "{what}: {answer:?}");
}

#[test]
fn row_73_two_lengths() {
    let server = server();
    let smuggled = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for lengths in [
        "Content-Length: 3\r\nContent-Length: 5",
        "Content-Length: 3, 4",
        "Content-Length: +3",
        "Content-Length: ",
        "Content-Length: 18446744073709551616",
        "Content-Length: -1",
        "Content-Length: 0x3",
    ] {
        let bytes = head(&format!("POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\n{lengths}"));
        let exchange = exchange(server.port, &[&bytes, smuggled.as_bytes()].concat());
        refused(&exchange, &[400], lengths);
    }
}

#[test]
fn row_74_every_spelling_of_transfer_encoding() {
    let server = server();
    let fixed = [
        "Transfer-Encoding: chunked",
        "transfer-encoding: chunked",
        "Transfer-Encoding: CHUNKED",
        "Transfer-Encoding: Chunked",
        "Transfer-Encoding:chunked",
        "Transfer-Encoding:\tchunked",
        "Transfer-Encoding: chunked ",
        "Transfer-Encoding : chunked",
        " Transfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunkedx",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding\u{b}: chunked",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: chunked\u{0}",
        "Transfer-Encoding:\r\n chunked",
        "TRANSFER-ENCODING: chunked",
    ];
    let placed = (0..4).flat_map(|place| {
        (1..=160_u8).map(move |byte| {
            let odd = [byte];
            let parts: [&[u8]; 5] = match place {
                0 => [&odd, b"Transfer-Encoding", b": ", b"chunked", b""],
                1 => [b"Transfer-Encoding", &odd, b": ", b"chunked", b""],
                2 => [b"Transfer-Encoding", b":", &odd, b"chunked", b""],
                _ => [b"Transfer-Encoding", b": ", b"chunked", &odd, b""],
            };
            parts.concat()
        })
    });
    let mutations: Vec<Vec<u8>> = fixed.iter().map(|line| line.as_bytes().to_vec()).chain(placed).collect();
    assert_eq!(mutations.len(), 668);
    // A server that took this for chunks would answer the request behind them as a second one.
    let tail = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for with_length in [false, true] {
        for line in &mutations {
            let length =
                if with_length { format!("Content-Length: {}\r\n", tail.len()) } else { String::new() };
            let start = format!(
                "POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}"
            );
            let exchange = exchange(server.port, &[start.as_bytes(), line, b"\r\n\r\n", tail].concat());
            let shown = String::from_utf8_lossy(line);
            assert!(
                exchange.answers.iter().all(|answer| answer.status != 200),
                "{shown}, {length}: {exchange:?}"
            );
            // Where the line ends the head (a bare LF) or is another legal name, what follows is a request, and a bad one.
            assert!(exchange.answers.len() <= 2, "{shown}: {exchange:?}");
            let first = exchange.answers.first().unwrap_or_else(|| panic!("{shown}: no answer"));
            assert!([400, 411, 415].contains(&first.status), "{shown}: {first:?}");
            if first.status == 411 {
                assert_eq!((first.code().as_str(), exchange.closed), ("length_required", true), "{shown}");
            }
        }
    }
}

#[test]
fn row_76_request_target_forms() {
    let server = server();
    for target in
        ["//evil/health", "http://other/health", "http://localhost/health", "*", "localhost:80", "health"]
    {
        let exchange = exchange(
            server.port,
            &head(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close")),
        );
        let answer = exchange.only();
        assert_eq!(
            (answer.status, answer.body.starts_with(b"{\"status\"")),
            (400, false),
            "{target}: {answer:?}"
        );
    }
}

#[test]
fn row_77_route_spelled_otherwise() {
    let server = server();
    for target in [
        "/health/../shell",
        "/health/%2e%2e/shell",
        "/health\\",
        "/shell;x",
        "/SHELL",
        "/%73hell",
        "/files%2flist",
        "/shell//x",
        "/Health",
        "/health%00",
        "/health/.",
        "/./health",
        "/health%20",
        "/heal%74h",
    ] {
        let answer = get(server.port, target);
        assert!([400, 404].contains(&answer.status), "{target}: {answer:?}");
        let line = server.audit_of(answer.id());
        assert!(line["endpoint"].is_null(), "{target}: {line}");
    }
    let answer = get(server.port, "/health///");
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"{\"status\":\"ok\"}".as_slice()));
}

#[test]
fn row_79_host_header() {
    let server = server();
    for (hosts, status) in [
        ("", 400),
        ("Host: localhost\r\nHost: localhost\r\n", 400),
        ("Host: a,b\r\n", 400),
        ("Host: user@localhost\r\n", 400),
        ("Host: \r\n", 400),
        ("Host: localhost:x\r\n", 400),
        ("Host: localhost:80:80\r\n", 400),
        ("Host: evil.example\r\n", 421),
        ("Host: localhost.evil.example\r\n", 421),
        ("Host: 127.0.0.1.evil.example\r\n", 421),
        ("Host: localhost:1234\r\n", 200),
        ("Host: LOCALHOST\r\n", 200),
        ("Host: 127.0.0.1:9\r\n", 200),
        ("Host: [::1]:9\r\n", 200),
    ] {
        let exchange = exchange(
            server.port,
            format!("GET /health HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n").as_bytes(),
        );
        assert_eq!(exchange.only().status, status, "{hosts}: {exchange:?}");
    }
    let named = Setup::new().arg("--allow-host").arg("box.example").start();
    assert_eq!(request(named.port, "GET", "/health", &[("Host", "box.example:8")], None).status, 200);
    assert_eq!(
        request(named.port, "GET", "/health", &[("Host", "other.example")], None).code(),
        "host_not_allowed"
    );
}

#[test]
fn row_79_a_socket_address_never_copies_the_host() {
    let server = server();
    let body = Some(br#"{"shell":"/bin/sh"}"#.as_slice());
    let answer = request(server.port, "POST", "/pty/sessions", &[("Host", "[::1]:1")], body).json();
    let id = answer["session_id"].as_str().unwrap_or_default();
    let port = server.pty_port.unwrap();
    assert_eq!(answer["ws_url"], format!("ws://127.0.0.1:{port}/pty?session_id={id}"));
}

#[test]
fn row_79_origin_header() {
    let server = Setup::new().arg("--allow-origin").arg("http://page.example").start();
    for (origin, status) in [("http://page.example", 200), ("http://page.example.evil", 403), ("null", 403)] {
        let answer = request(server.port, "GET", "/health", &[("Origin", origin)], None);
        assert_eq!(answer.status, status, "{origin}");
        assert!(answer.headers.keys().all(|name| !name.starts_with("access-control-")), "{answer:?}");
    }
}

#[test]
fn row_80_methods() {
    let server = server();
    for method in ["get", "HEAD", "TRACE", "PUT", "PATCH", "OPTIONS", "FOO"] {
        let exchange = exchange(
            server.port,
            &head(&format!("{method} /health HTTP/1.1\r\nHost: localhost\r\nConnection: close")),
        );
        assert_eq!(exchange.only().status, 501, "{method}: {exchange:?}");
    }
    for method in ["CONNECT", "G=x"] {
        let exchange = exchange(
            server.port,
            &head(&format!("{method} /health HTTP/1.1\r\nHost: localhost\r\nConnection: close")),
        );
        assert!([400, 501].contains(&exchange.only().status), "{method}: {exchange:?}");
    }
    let overridden = [("X-HTTP-Method-Override", "DELETE"), ("X-Method-Override", "PUT")];
    assert_eq!(request(server.port, "GET", "/health", &overridden, None).status, 200);
    let options =
        request(server.port, "OPTIONS", "/health", &[("Access-Control-Request-Method", "GET")], None);
    assert!(options.headers.keys().all(|name| !name.starts_with("access-control-")), "{options:?}");
}

#[test]
fn row_82_line_endings_and_control_bytes() {
    let server = server();
    let requests: [&[u8]; 8] = [
        b"GET /health HTTP/1.1\rHost: localhost\r\r",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/1.2\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    ];
    for bytes in requests {
        refused(&exchange(server.port, bytes), &[400], &String::from_utf8_lossy(bytes));
    }
}

#[test]
fn row_83_body_on_a_get() {
    let server = server();
    let bytes = b"GET /files/list?path=. HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30\r\n\r\n\
        GET /health HTTP/1.1\r\nHost: xGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let exchange = exchange(server.port, bytes);
    refused(&exchange, &[400], "a body on a GET");
    assert_eq!(exchange.only().code(), "body_not_allowed");
}

#[test]
fn row_85_json_body() {
    let server = server();
    let deep = format!("{{\"endpoint\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies: [&[u8]; 11] = [
        br#"{"endpoint":"shell","path":"a","path":"b"}"#,
        deep.as_bytes(),
        br#"{"endpoint":NaN}"#,
        br#"{"endpoint":1e999}"#,
        b"\xef\xbb\xbf{\"endpoint\":\"shell\"}",
        br#"{"endpoint":"shell"} x"#,
        b"\xff\xfe{\0\"\0",
        b"{\"endpoint\":\"\xff\"}",
        br#"{"endpoint":"\ud800"}"#,
        br#"["endpoint"]"#,
        b"{",
    ];
    for body in bodies {
        let answer = request(server.port, "POST", "/capabilities/check", &[], Some(body));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "invalid_json"),
            "{}",
            String::from_utf8_lossy(body)
        );
    }
}

#[test]
fn row_86_content_type() {
    let server = server();
    let body = Some(br#"{"endpoint":"health"}"#.as_slice());
    for (headers, status) in [
        (vec![("Content-Type", "application/x-www-form-urlencoded")], 415),
        (vec![("Content-Type", "multipart/form-data; boundary=x")], 415),
        (vec![("Content-Type", "application/json; charset=utf-16")], 415),
        (vec![("Content-Type", "application/json"), ("Content-Encoding", "gzip")], 415),
        (vec![("Content-Type", "application/json"), ("Content-Type", "text/plain")], 415),
        (vec![("Content-Type", "Application/JSON; charset=\"UTF-8\"")], 200),
        (vec![("Content-Type", "text/plain")], 200),
        (vec![], 200),
    ] {
        let answer = request(server.port, "POST", "/capabilities/check", &headers, body);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let server = server();
    let one = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = connect(server.port);
    stream.write_all(&one.repeat(5)).unwrap();
    let exchange = read_answers(&mut stream, 5);
    let statuses: Vec<_> = exchange.answers.iter().map(|answer| answer.status).collect();
    assert_eq!((statuses, exchange.closed), (vec![200; 5], false));
    let ids: std::collections::BTreeSet<_> =
        exchange.answers.iter().map(|answer| answer.id().to_owned()).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn an_answer_before_the_body_closes_the_connection() {
    let server = server();
    let bytes = b"POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    refused(&exchange(server.port, bytes), &[404], "an unread body");
}

#[test]
fn a_request_too_large_is_refused_before_it_is_read() {
    let server = server();
    let bytes = head("POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537");
    let exchange = exchange(server.port, &bytes);
    refused(&exchange, &[413], "65 KB where 64 KB are allowed");
    assert_eq!(exchange.only().json()["limit"], 64_000);
    assert_eq!(post(server.port, "/capabilities/check", r#"{"endpoint":"health"}"#).status, 200);
}

#[test]
fn the_header_block_is_bounded() {
    let server = server();
    let long = "x".repeat(70 * 1024);
    let exchange = exchange(
        server.port,
        &head(&format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\nConnection: close")),
    );
    // The HTTP library closes without a word when the rest of the head is still on the way.
    assert!(exchange.closed && exchange.answers.iter().all(|answer| answer.status == 431), "{exchange:?}");
}
