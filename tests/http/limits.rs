//! Limits and floods. Counts are short unless `FULL_COUNTS=1`.

use crate::raw::{connect, exchange, get, post, read_all, read_answers, request};
use crate::server::{PATIENCE, Server, Setup, full};
use crate::slots;
use serde_json::json;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

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
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[test]
fn row_122_a_silent_connection_is_closed() {
    let server = Setup::new().start();
    let mut stream = connect(server.port);
    let began = Instant::now();
    let exchange = read_all(&mut stream);
    assert!(
        exchange.closed && began.elapsed() < Duration::from_secs(40),
        "{:?} {exchange:?}",
        began.elapsed()
    );
}

#[test]
fn row_122_a_head_that_drips() {
    let server = Setup::new().start();
    let began = Instant::now();
    let mut stream = connect(server.port);
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    let mut writer = stream.try_clone().unwrap();
    // Every byte is in time; the head as a whole is not.
    std::thread::spawn(move || {
        while writer.write_all(b"X").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let mut seen = Vec::new();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let ended = stream.read_to_end(&mut seen);
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still open");
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn row_125_two_hundred_at_once() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"capabilities":{"limits":{"rate_per_minute":60}}}}"#;
    let server = Setup::new().policy(policy).start();
    let mut stream = connect(server.port);
    let began = Instant::now();
    stream.write_all(&b"GET /capabilities HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(200)).unwrap();
    let answers = read_answers(&mut stream, 200).answers;
    let took = began.elapsed().as_secs() as usize;
    assert_eq!(answers.len(), 200);
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(passed == 60 || (took > 0 && passed <= 60 + took), "{passed} in {took} s");
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!(refused.len(), 200 - passed);
    // One comes back each second, so a second is what is left to wait.
    for answer in refused {
        let body = answer.json();
        assert_eq!((&body["limit"], &body["retry_after"]), (&json!(60), &json!(1)));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    std::thread::sleep(Duration::from_millis(1050));
    assert_eq!(get(server.port, "/capabilities").status, 200, "what `retry_after` said holds");
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
    slots::are_free(&server, 8, "/capabilities/check", r#"{"endpoint":"health"}"#);
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
    assert!(becomes_calm(&server), "it is never calm");
    drop(idle);
    // Those that waited to be accepted are met first, and may still push one out; then clients are served again.
    let until = Instant::now() + PATIENCE;
    let ask = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    while exchange(server.port, ask).answers.first().is_none_or(|answer| answer.status != 200) {
        assert!(Instant::now() < until, "clients are not served again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// CPU that it has used, in ticks of 10 ms.
pub fn cpu(server: &Server) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Whether a second comes in which it hardly uses the CPU: one of several, for what came before may still keep it busy.
pub fn becomes_calm(server: &Server) -> bool {
    (0..30).any(|_| {
        let ticks = cpu(server);
        std::thread::sleep(Duration::from_secs(1));
        cpu(server) - ticks < 20
    })
}

/// Whether it comes to use the CPU for more than one request needs.
pub fn becomes_busy(server: &Server, before: u64) -> bool {
    let until = Instant::now() + PATIENCE;
    while cpu(server) - before < 20 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    cpu(server) - before >= 20
}

#[test]
fn row_130_two_thousand_idle_connections() {
    // This test holds one end of each.
    let mut own = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    own.current = own.maximum;
    let raised = rustix::process::setrlimit(rustix::process::Resource::Nofile, own);
    if raised.is_err() || own.maximum.is_some_and(|most| most < 4096) {
        eprintln!("skipped: not enough descriptors for this test itself");
        return;
    }
    let server = Setup::new().start();
    let limit = ["--pid", &server.pid().to_string(), "--nofile=1024:1024"];
    if !std::process::Command::new("prlimit").args(limit).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: the descriptors of another process cannot be limited here");
        return;
    }
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
    let before = descriptors();
    let idle: Vec<_> = (0..2000).map(|_| connect(server.port)).collect();
    for _ in 0..10 {
        let began = Instant::now();
        assert_eq!(get(server.port, "/health").status, 200);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
    assert!(descriptors() <= before + 520, "{} and {before} before", descriptors());
    assert!(becomes_calm(&server), "it is never calm");
    // Work goes on too, not only what needs no descriptor.
    assert_eq!(post(server.port, "/shell", r#"{"command":"true"}"#).json()["exit_code"], 0);
    drop(idle);
    let until = Instant::now() + PATIENCE;
    while descriptors() > before + 2 {
        assert!(Instant::now() < until, "{} and {before} before", descriptors());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn row_127_a_flood_into_a_call() {
    let policy = r#"{"base_dir":"{base}","endpoints":{"shell":{"limits":{"max_output_bytes":"1MB","timeout_seconds":5}}}}"#;
    let server = Setup::new().policy(policy).start();
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = memory();
    let mark = format!("flood-{}", server.pid());
    let body = json!({"command": format!("sh -c 'yes {mark}'"), "timeout": 2}).to_string();
    let answer = post(server.port, "/shell", &body);
    let kept = answer.json()["stdout"].as_str().map_or(0, str::len);
    assert!(
        (answer.status == 200 && answer.json()["stdout_truncated"] == true) || answer.code() == "timeout"
    );
    assert!(kept <= 1_500_000 && answer.body.len() < 1_600_000, "{kept}");
    assert!(memory() - before < 24 << 10, "{} KiB more at its most", memory() - before);
    let until = Instant::now() + PATIENCE;
    let runs = || {
        let found = std::process::Command::new("pgrep").args(["-f", &format!("^yes {mark}")]).output();
        String::from_utf8_lossy(&found.unwrap().stdout).into_owned()
    };
    while !runs().is_empty() {
        assert!(Instant::now() < until, "it runs on: {}", runs());
    }
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
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn a_reader_that_takes_nothing_does_not_outlast_the_limit_of_a_stream() {
    let limits = json!({"limits": {"max_duration_seconds": 1, "max_concurrency": 1}});
    let policy = json!({"endpoints": {"process_output": limits}});
    let server = Setup::new().policy(&policy.to_string()).start();
    let started = post(server.port, "/process/start", &json!({"command": "yes"}).to_string()).json();
    let output = format!("/process/{}/output", started["pid"]);
    let mut stream = connect(server.port);
    rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4096).unwrap();
    let head = format!("GET {output}?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut begin = [0; 15];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200 OK");
    // It reads no more, and the slot is free again all the same.
    let begun = Instant::now();
    while get(server.port, &output).status != 200 {
        assert!(begun.elapsed() < PATIENCE, "the slot is still taken");
        std::thread::sleep(Duration::from_millis(100));
    }
    let line = server.wait_for("\"event\":\"cut\"");
    assert!(line.contains("\"endpoint\":\"process_output\""), "{line}");
}
