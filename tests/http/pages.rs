//! The sockets of web pages, which can set no headers: their token comes as a subprotocol.

use crate::raw::{Answer, connect};
use crate::server::{Server, Setup};
use crate::sockets::handshake;
use std::io::{Read, Write};

/// A page's handshake; `offer` are its subprotocols.
fn page(server: &Server, origin: &str, offer: &str) -> (u16, String) {
    let answer = post_with_token(server, "/pty/sessions", r#"{"shell":"/bin/sh"}"#);
    let id = answer.json()["session_id"].as_str().unwrap().to_owned();
    let mut stream = connect(server.port);
    let headers = format!("Origin: {origin}\r\nSec-WebSocket-Protocol: {offer}\r\n");
    stream.write_all(handshake(&format!("/pty?session_id={id}"), &headers).as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    drop(stream);
    crate::raw::request(
        server.port,
        "DELETE",
        &format!("/pty/sessions/{id}"),
        &[("X-Access-Token", "canary/of a page")],
        None,
    );
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
}

fn post_with_token(server: &Server, target: &str, body: &str) -> Answer {
    let headers = [("X-Access-Token", "canary/of a page"), ("Content-Type", "application/json")];
    crate::raw::request(server.port, "POST", target, &headers, Some(body.as_bytes()))
}

// runtime 50
#[test]
fn row_50_a_page_passes_its_token_as_a_subprotocol_and_it_is_never_said_again() {
    // The second is the token in base64url.
    let (secret, encoded) = ("canary/of a page", "Y2FuYXJ5L29mIGEgcGFnZQ");
    let server = Setup::new()
        .env("ABX_SERVER_TOKEN", secret)
        .arg("--allow-origin")
        .arg("https://page.example")
        .start();
    let (status, head) = page(&server, "https://page.example", &format!("abx, bearer.{encoded}"));
    assert_eq!(status, 101, "{head}");
    let answered: Vec<_> =
        head.lines().filter(|line| line.to_ascii_lowercase().starts_with("sec-websocket-protocol")).collect();
    assert_eq!(answered, ["sec-websocket-protocol: abx"]);
    for (origin, offer, wanted) in [
        ("https://other.example", format!("abx, bearer.{encoded}"), 403),
        ("https://page.example", "abx".to_owned(), 401),
        ("https://page.example", "abx, bearer.d3Jvbmc".to_owned(), 401),
        ("https://page.example", format!("abx, {encoded}"), 401),
        ("https://page.example", format!("bearer.{encoded}, bearer.{encoded}"), 400),
    ] {
        assert_eq!(page(&server, origin, &offer).0, wanted, "{offer}");
    }
    let (_, said) = server.stop();
    assert!(!said.iter().any(|line| line.contains(secret) || line.contains(encoded)), "{said:#?}");
}
