//! The audit log from outside: nothing is missing, nothing is leaked, and what cannot be written does not happen.

use crate::raw::{get, request};
use crate::server::{PATIENCE, Setup};
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

#[test]
fn row_157_what_cannot_be_audited_does_not_happen() {
    let server = Setup::new().env("ABX_AUDIT_FILE", "{dir}/log/audit.jsonl").try_start();
    assert_eq!(server.unwrap_err().status, 1, "a log that cannot be opened");
    let fifo = Setup::new().policy(r#"{"base_dir":"{base}"}"#).env("ABX_AUDIT_FILE", "/dev/full").try_start();
    assert_eq!(fifo.unwrap_err().status, 1, "a device is no log");
    let server = Setup::new().env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start();
    // The log's directory goes away: it can neither be found nor made again.
    let log = server.dir.path().join("audit.jsonl");
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    let made = request(server.port, "POST", "/files/mkdir", &[], Some(br#"{"path":"made"}"#));
    if made.code() == "endpoint_not_built" {
        return;
    }
    assert_eq!((made.status, made.code().as_str()), (503, "audit_unavailable"));
    assert!(!server.base().join("made").exists());
    assert_eq!(get(server.port, "/health").status, 200);
    assert_ne!(get(server.port, "/files/list?path=.").status, 503);
}

#[test]
fn row_158_nothing_is_missing() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "t").env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start();
    let count = if std::env::var_os("FULL_COUNTS").is_some() { 10_000 } else { 500 };
    for turn in 0..count {
        match turn % 5 {
            0 => get(server.port, "/capabilities"),
            1 => request(server.port, "GET", "/capabilities", &[("X-Api-Key", "t")], None),
            2 => get(server.port, "/nowhere"),
            3 => request(server.port, "PUT", "/health", &[], None),
            _ => request(server.port, "POST", "/capabilities/check", &[("X-Api-Key", "t")], Some(b"{")),
        };
    }
    let log = server.dir.path().join("audit.jsonl");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&log).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("audit.jsonl");
    std::fs::hard_link(&log, &kept).or_else(|_| std::fs::copy(&log, &kept).map(|_| ())).unwrap();
    server.stop();
    let lines = lines(&std::fs::read_to_string(&kept).unwrap());
    let counted = |line: &Value| if line["event"] == "summary" { line["count"].as_u64().unwrap() } else { 1 };
    assert_eq!(lines.iter().map(counted).sum::<u64>(), count, "{lines:#?}");
    for line in lines.iter().filter(|line| line["event"] == "call") {
        assert!(
            line["request_id"].is_string() && line["status"].is_u64() && line["peer"] == "127.0.0.1",
            "{line}"
        );
        if line["decision"] == "deny" {
            assert!(line["code"].is_string(), "{line}");
        }
    }
}

#[test]
fn row_161_the_log_is_followed_when_it_is_rotated() {
    let server = Setup::new().env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start();
    let (log, old) = (server.dir.path().join("audit.jsonl"), server.dir.path().join("audit.1"));
    let wait = |path: &std::path::Path, count: usize| {
        let until = std::time::Instant::now() + PATIENCE;
        while std::fs::read_to_string(path).unwrap_or_default().lines().count() < count {
            assert!(std::time::Instant::now() < until, "{}", path.display());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    get(server.port, "/capabilities");
    wait(&log, 1);
    std::fs::rename(&log, &old).unwrap();
    get(server.port, "/capabilities");
    wait(&log, 1);
    std::fs::write(&log, b"").unwrap();
    get(server.port, "/capabilities");
    wait(&log, 1);
    assert_eq!(lines(&std::fs::read_to_string(&old).unwrap()).len(), 1);
}

#[test]
fn row_163_a_flood_is_summarised_with_exact_counts() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "t").start();
    let count: u64 = if std::env::var_os("FULL_COUNTS").is_some() { 1_000_000 } else { 3_000 };
    let head = b"GET /capabilities HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let began = std::time::Instant::now();
    let mut stream = crate::raw::connect(server.port);
    let mut left = count;
    while left > 0 {
        let batch = left.min(100);
        std::io::Write::write_all(&mut stream, &head.repeat(usize::try_from(batch).unwrap())).unwrap();
        let (mut seen, mut piece) = (Vec::new(), [0; 65536]);
        while memchr::memmem::find_iter(&seen, b"HTTP/1.1 401").count() as u64 != batch {
            let read = std::io::Read::read(&mut stream, &mut piece).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&piece[..read]);
        }
        left -= batch;
    }
    let (_, stderr) = server.stop();
    let lines: Vec<Value> = stderr.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let counted = |line: &Value| if line["event"] == "summary" { line["count"].as_u64().unwrap() } else { 1 };
    assert_eq!(lines.iter().map(counted).sum::<u64>(), count);
    // By time, not by how many there are.
    let most = 200 + 10 * began.elapsed().as_secs();
    assert!((lines.len() as u64) < most, "{} lines, {most} at most", lines.len());
}

#[test]
fn row_164_a_request_id_from_outside_is_ignored() {
    let server = Setup::new().start();
    for given in ["mine", &"x".repeat(10_000)] {
        let answer = request(server.port, "GET", "/capabilities", &[("X-Request-Id", given)], None);
        let id = answer.id().to_owned();
        assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert_eq!(answer.headers["x-request-id"].len(), 1);
        assert_eq!(server.audit_of(&id)["endpoint"], "capabilities");
        assert!(server.stderr().iter().all(|line| !line.contains(given)));
    }
}
