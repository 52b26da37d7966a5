//! The life of a server under load: stop with everything open, reload, a stuck reader of its log, a wall clock that jumps.

use crate::raw::{connect, get, post, read_all};
use crate::server::{PATIENCE, Server, Setup, full};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Processes whose command line holds `word`.
fn running(word: &str) -> usize {
    let named = |path: PathBuf| {
        // What has ended meanwhile is not running.
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(word) && !line.contains("serve")
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(|entry| named(entry.path())).count()
}

fn ask(server: &Server, target: &str, body: &Value) -> std::net::TcpStream {
    let body = body.to_string();
    let mut stream = connect(server.port);
    let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

#[test]
fn a_stop_ends_streams_sockets_and_children() {
    let server = Setup::new().env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start();
    let mark = format!("98765.{}", server.pid());
    let deaf = format!("sh -c 'trap \"\" TERM HUP INT; while :; do echo x; sleep {mark}; done'");
    let shell = format!("sh -c 'setsid sleep {mark} & sleep {mark}'");
    let mut stream = ask(&server, "/shell/stream", &json!({"command": deaf}));
    let mut call = ask(&server, "/shell", &json!({"command": shell}));
    for command in [&deaf, &shell] {
        assert_eq!(post(server.port, "/process/start", &json!({"command": command}).to_string()).status, 200);
    }
    let session = post(server.port, "/pty/sessions", r#"{"shell":"/bin/sh"}"#).json();
    let id = session["session_id"].as_str().unwrap();
    let url = format!("ws://localhost:{}/pty?session_id={id}", server.pty_port.unwrap());
    let (mut socket, _) = tokio_tungstenite::tungstenite::connect(url).unwrap();
    let typed = json!({"type": "input", "data": format!("sleep {mark}\n")}).to_string();
    socket.send(tokio_tungstenite::tungstenite::Message::Text(typed.into())).unwrap();
    // A body that never comes to its end, a head that never does, and a reader that does not read.
    let mut half = connect(server.port);
    let waits =
        b"POST /shell HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n";
    half.write_all(waits).unwrap();
    // It is asked to go on once the call has been let in.
    let mut asked = [0; 25];
    half.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    half.write_all(b"{").unwrap();
    let mut head = connect(server.port);
    head.write_all(b"GET /health HTTP/1.1\r\nHost: local").unwrap();
    let mut flood = ask(&server, "/shell/stream", &json!({"command": "yes"}));
    flood.read_exact(&mut [0; 15]).unwrap();
    let until = Instant::now() + PATIENCE;
    while running(&mark) < 11 {
        assert!(Instant::now() < until, "{} are running", running(&mark));
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = server.dir.path().join("audit.jsonl");
    let (began, mut lines) = (Instant::now(), String::new());
    let (status, stderr) = server.stop_and(|| lines = std::fs::read_to_string(&log).unwrap());
    assert_eq!(status, Some(0), "{stderr:#?}");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    let until = Instant::now() + PATIENCE;
    while running(&mark) > 0 {
        assert!(Instant::now() < until, "{} are still running", running(&mark));
        std::thread::sleep(Duration::from_millis(20));
    }
    // Whoever was being answered is told or cut; nobody waits.
    let mut rest = Vec::new();
    for one in [&mut stream, &mut call, &mut half] {
        one.set_read_timeout(Some(PATIENCE)).unwrap();
        let ended = one.read_to_end(&mut rest);
        assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    }
    drop((flood, head));
    // Each call that was let in has its line.
    let named = |endpoint: &str| {
        let parsed = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        parsed.filter(|line| line["endpoint"] == endpoint && line["event"] != "intent").count()
    };
    assert_eq!((named("shell"), named("shell_stream"), named("process_start")), (2, 2, 2), "{lines}");
}

#[test]
fn a_stuck_reader_of_stderr_holds_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"))
        .env_clear()
        .args(["serve", "--host", "127.0.0.1", "--port", "0", "--pty-port", "0", "--base-dir"])
        .arg(dir.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = child.stderr.take().unwrap();
    rustix::pipe::fcntl_setpipe_size(&stderr, 4096).unwrap();
    let mut lines = BufReader::with_capacity(512, stderr);
    let mut line = String::new();
    let port = loop {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0);
        if let Some(rest) = line.split_once("listening on http://127.0.0.1:") {
            break rest.1.split(',').next().unwrap().trim().parse::<u16>().unwrap();
        }
    };
    // Far more than the pipe holds; a reload that fails says so each time.
    for _ in 0..200 {
        assert_eq!(get(port, "/capabilities").status, 200);
    }
    for _ in 0..20 {
        assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(get(port, "/health").status, 200);
    }
    let began = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it does not stop");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_reload_under_load_mixes_nothing() {
    let open = r#"{"base_dir":"{base}","endpoints":{"env_list":true,"env_set":false,"*":{"limits":{"rate_per_minute":100000000}},
        "group:core":{"limits":{"rate_per_minute":100000000}}}}"#;
    let server = Setup::new().policy(open).start();
    let path = server.dir.path().join("policy.yaml");
    let one = std::fs::read_to_string(&path).unwrap();
    let other = one.replace(r#""env_list":true,"env_set":false"#, r#""env_list":false,"env_set":true"#);
    let (stop, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    let revision =
        |port| get(port, "/capabilities").json()["policy"]["revision"].as_str().unwrap().to_owned();
    let rounds = if full() { 200 } else { 20 };
    /// Ends the clients whichever way the test ends.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let shown = get(server.port, "/capabilities").json();
                    let enabled = |name: &str| shown["endpoints"][name]["enabled"].as_bool().unwrap();
                    assert_ne!(enabled("env_list"), enabled("env_set"), "half of two policies");
                    let list = get(server.port, "/env");
                    assert!(list.status == 200 || list.code() == "endpoint_disabled", "{}", list.json());
                    let set = post(server.port, "/env", r#"{"vars":{"A":"b"}}"#);
                    assert!(set.status == 200 || set.code() == "endpoint_disabled", "{}", set.json());
                    asked.fetch_add(3, Ordering::Relaxed);
                }
            });
        }
        let mut seen = std::collections::HashSet::new();
        let mut round = 0;
        // On past the count until the clients have asked often enough for this to say something.
        while round < rounds || asked.load(Ordering::Relaxed) <= 100 {
            // Replaced as a whole, as an operator's tool does.
            let next = path.with_extension("next");
            std::fs::write(&next, if round % 2 == 0 { &other } else { &one }).unwrap();
            std::fs::rename(&next, &path).unwrap();
            server.signal("HUP");
            round += 1;
            server.wait_for_count("policy reloaded", round);
            seen.insert(revision(server.port));
        }
        assert_eq!(seen.len(), 2);
    });
}

/// Builds the library that moves the wall clock of whoever loads it by the seconds in a file.
fn clock(dir: &Path) -> Option<PathBuf> {
    let (source, library) = (dir.join("clock.c"), dir.join("clock.so"));
    std::fs::write(&source, include_str!("clock.c")).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if built.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    eprintln!("skipped: no C compiler");
    None
}

#[test]
fn row_173_a_wall_clock_that_jumps() {
    let dir = tempfile::tempdir().unwrap();
    let Some(library) = clock(dir.path()) else { return };
    let offset = dir.path().join("offset");
    std::fs::write(&offset, 0_i64.to_ne_bytes()).unwrap();
    let policy = r#"{"base_dir":"{base}","endpoints":{"capabilities":{"limits":{"rate_per_minute":60}}}}"#;
    let server = Setup::new()
        .policy(policy)
        .env("LD_PRELOAD", &library.display().to_string())
        .env("TEST_CLOCK_OFFSET", &offset.display().to_string())
        .start();
    let jump = |seconds: i64| {
        // In place: the server has the file mapped.
        let file = std::fs::OpenOptions::new().write(true).open(&offset).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &seconds.to_ne_bytes(), 0).unwrap();
    };
    let year_of =
        |answer: &crate::raw::Answer| server.audit_of(answer.id())["time"].as_str().unwrap()[..4].to_owned();
    let first = get(server.port, "/capabilities");
    let (day, year) = (24 * 3600, 366 * 24 * 3600);
    jump(year);
    let second = get(server.port, "/capabilities");
    assert_ne!(year_of(&first), year_of(&second), "the clock of the server has not moved");
    // The rate: two are spent, and no jump gives any back or takes any.
    let (mut passed, began) = (2, Instant::now());
    for turn in 0..140 {
        jump(if turn % 2 == 0 { -day } else { year });
        passed += u64::from(get(server.port, "/capabilities").status == 200);
    }
    let back = began.elapsed().as_secs() + 1;
    assert!((60..=60 + back).contains(&passed), "{passed} passed");
    // A timeout: a jump neither ends it early nor puts it off.
    let began = Instant::now();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| post(server.port, "/shell", r#"{"command":"sleep 60","timeout":2}"#));
        std::thread::sleep(Duration::from_millis(500));
        jump(-day);
        std::thread::sleep(Duration::from_millis(500));
        jump(year);
        let answer = asked.join().unwrap();
        assert_eq!((answer.status, answer.code().as_str()), (500, "timeout"));
    });
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(40), "{took:?}");
    // A timer of idleness: a command that nobody is attached to.
    let mark = format!("87654.{}", server.pid());
    let body = json!({"command": format!("sleep {mark}"), "command_id": "idle", "idle_timeout_seconds": 2});
    let attached = ask(&server, "/shell/stream", &body);
    let until = Instant::now() + PATIENCE;
    while running(&mark) == 0 {
        assert!(Instant::now() < until, "it does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let began = Instant::now();
    drop(attached);
    for turn in 0.. {
        jump(if turn % 2 == 0 { -day } else { year });
        if running(&mark) == 0 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "it is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(began.elapsed() >= Duration::from_millis(1800), "{:?}", began.elapsed());
    let mut stream = connect(server.port);
    jump(0);
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(read_all(&mut stream).only().status, 200);
}
