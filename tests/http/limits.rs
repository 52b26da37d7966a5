//! Limits and floods. Counts are short unless `FULL_COUNTS=1`.

use crate::raw::{connect, get, read_all, request};
use crate::server::Setup;
use std::io::Write;
use std::time::{Duration, Instant};

pub fn full() -> bool {
    std::env::var_os("FULL_COUNTS").is_some_and(|value| value == "1")
}

#[test]
fn row_121_a_slow_body() {
    if !full() {
        // Thirty seconds: the same with a clock of its own is a unit test of the body reader.
        return;
    }
    let server = Setup::new().start();
    let mut stream = connect(server.port);
    let head = "POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let began = Instant::now();
    let mut writer = stream.try_clone().unwrap();
    std::thread::spawn(move || {
        while writer.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let exchange = loop {
        let exchange = read_all(&mut stream);
        if exchange.closed || !exchange.answers.is_empty() {
            break exchange;
        }
    };
    assert_eq!(exchange.only().status, 408);
    assert!((29..36).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[test]
fn row_122_silent_connections() {
    let server = Setup::new().start();
    let count = if full() { 10_000 } else { 1_500 };
    let mut silent = Vec::new();
    for _ in 0..count {
        // Descriptors of this test are bounded too: the oldest have been closed by the server long since.
        if silent.len() > 700 {
            silent.drain(..100);
        }
        silent.push(connect(server.port));
    }
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(get(server.port, "/health").status, 200);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[test]
fn row_122_a_silent_connection_is_closed() {
    let server = Setup::new().start();
    let mut stream = connect(server.port);
    let began = Instant::now();
    let exchange = read_all(&mut stream);
    assert!(
        exchange.closed && began.elapsed() < Duration::from_secs(13),
        "{:?} {exchange:?}",
        began.elapsed()
    );
}

#[test]
fn row_125_a_rate_is_exact() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"capabilities":{"limits":{"rate_per_minute":60}}}}"#;
    let server = Setup::new().policy(policy).start();
    let began = Instant::now();
    let answers: Vec<_> = (0..200)
        .map(|turn| {
            let forged = format!("10.0.0.{turn}");
            request(server.port, "GET", "/capabilities", &[("X-Forwarded-For", &forged)], None)
        })
        .collect();
    // One more comes back every second that this takes.
    let grace = began.elapsed().as_secs() as usize + 1;
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    assert!((60..=60 + grace).contains(&passed), "{passed}");
    assert!(answers[..60].iter().all(|answer| answer.status == 200));
    let refused = answers.iter().rev().find(|answer| answer.status == 429).unwrap();
    let body = refused.json();
    assert_eq!(
        body,
        serde_json::json!({"error": "Too many calls per minute", "type": "ResourceError", "code": "rate_limited",
            "rule": "policy:endpoints.capabilities", "retry_after": 1, "endpoint": "capabilities", "limit": 60})
    );
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[test]
fn row_124_slots_come_back() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"capabilities_check":{"limits":{"max_concurrency":8,"rate_per_minute":1000000}}}}"#;
    let server = Setup::new().policy(policy).start();
    let head = "POST /capabilities/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 21\r\n\r\n{";
    for _ in 0..if full() { 10_000 } else { 300 } {
        let mut stream = connect(server.port);
        stream.write_all(head.as_bytes()).unwrap();
        drop(stream);
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut held: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = connect(server.port);
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let ninth = crate::raw::post(server.port, "/capabilities/check", r#"{"endpoint":"health"}"#);
    assert_eq!(
        (ninth.status, ninth.code().as_str(), &ninth.json()["limit"]),
        (429, "too_many_concurrent", &8.into())
    );
    for stream in &mut held {
        stream.write_all(br#""endpoint":"health"}"#).unwrap();
        assert_eq!(read_all(stream).only().status, 200);
    }
}

#[test]
fn row_130_descriptors_used_up() {
    let server = Setup::new().start();
    let limit = std::process::Command::new("prlimit")
        .args(["--pid", &server.pid().to_string(), "--nofile=64:64"])
        .status();
    if !limit.is_ok_and(|status| status.success()) {
        return;
    }
    let idle: Vec<_> = (0..200).map(|_| connect(server.port)).collect();
    server.wait_for("accepting connections pauses");
    let cpu = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = cpu();
    std::thread::sleep(Duration::from_secs(1));
    assert!(cpu() - before < 20, "ticks of CPU in a second: {}", cpu() - before);
    drop(idle);
    assert_eq!(get(server.port, "/health").status, 200);
}

#[test]
fn a_stop_lets_nothing_hang() {
    let server = Setup::new().start();
    let mut half = connect(server.port);
    half.write_all(b"GET /health HTTP/1.1\r\nHost: local").unwrap();
    let mut idle = connect(server.port);
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(read_all(&mut idle).only().status, 200);
    let began = Instant::now();
    let (status, _) = server.stop();
    assert_eq!(status, Some(0));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
