//! Mixed requests over every built endpoint for a while; afterwards slots, memory, descriptors and children are where they
//! began.

use crate::raw::{Answer, connect, get, post, request};
use crate::server::{PATIENCE, Server, Setup};
use crate::slots;
use policy_lang::endpoint::ENDPOINTS;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One request of each endpoint that is answered 200; `{n}` is a number of its own for each.
const CALLS: &[(&str, &str, &str, &str)] = &[
    ("health", "GET", "/health", ""),
    ("capabilities", "GET", "/capabilities", ""),
    ("capabilities_check", "POST", "/capabilities/check", r#"{"endpoint":"health"}"#),
    ("commands_list", "GET", "/commands", ""),
    ("upload", "POST", "/upload", r#"{"path":"up/{n}","content_base64":"YWJj"}"#),
    ("files_upload_stream", "POST", "/files/upload-stream", r#"{"path":"up/{n}","content_base64":"YWJj"}"#),
    ("download", "GET", "/download?path=kept", ""),
    ("files_download_stream", "GET", "/files/download-stream?path=kept", ""),
    ("files_list", "GET", "/files/list?path=.&recursive=true", ""),
    ("files_stat", "GET", "/files/stat?path=kept", ""),
    ("files_mkdir", "POST", "/files/mkdir", r#"{"path":"dir/{n}"}"#),
    ("files_search", "POST", "/files/search", r#"{"pattern":"ke*"}"#),
    ("files_grep", "POST", "/files/grep", r#"{"pattern":"inside"}"#),
    ("files_archive", "POST", "/files/archive", r#"{"paths":["kept"]}"#),
    ("shell", "POST", "/shell", r#"{"command":"sh -c 'echo a; echo b >&2'"}"#),
    ("shell_stream", "POST", "/shell/stream", r#"{"command":"sh -c 'echo a; echo b >&2'"}"#),
    ("process_list", "GET", "/process/list", ""),
    ("pty_list", "GET", "/pty/sessions", ""),
    ("system_info", "GET", "/system/info", ""),
    ("env_list", "GET", "/env", ""),
    ("env_set", "POST", "/env", r#"{"vars":{"SOAK":"{n}"}}"#),
    ("ports", "GET", "/ports", ""),
    ("system_metrics", "GET", "/system/metrics", ""),
    ("code_run", "POST", "/code/run", r#"{"language":"bash","code":"echo a"}"#),
    ("git_status", "GET", "/git/status?path=repository", ""),
    ("git_diff", "GET", "/git/diff?path=repository", ""),
];

/// Endpoints that are asked in [`stories`], because one call follows from another.
const IN_STORIES: &[&str] = &[
    "files_delete",
    "files_move",
    "process_start",
    "process_get",
    "process_output",
    "process_input",
    "process_signal",
    "pty_create",
    "pty_get",
    "pty_delete",
    "pty_connect",
    "tunnel_connect",
];

/// Endpoints that are left out, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("packages", "lists what is installed by programs that take seconds"),
    ("commands_run", "runs what a template declares; this server has none"),
];

fn call(server: &Server, method: &str, target: &str, body: &str) -> Answer {
    let body = (!body.is_empty()).then_some(body.as_bytes());
    request(server.port, method, target, &[("Content-Type", "application/json")], body)
}

/// Calls that follow from one another, each answered as it should be.
fn stories(server: &Server, turn: u64) -> Result<(), Answer> {
    let wanted = |answer: Answer| if answer.status == 200 { Ok(answer.json()) } else { Err(answer) };
    match turn % 6 {
        0 => {
            let path = format!("story/{turn}");
            wanted(post(server.port, "/files/mkdir", &json!({"path": path}).to_string()))?;
            let moved = json!({"source": path, "destination": format!("{path}-moved")});
            wanted(post(server.port, "/files/move", &moved.to_string()))?;
            wanted(call(server, "DELETE", &format!("/files?path={path}-moved"), ""))?;
        }
        1 => {
            let started = json!({"command": "cat", "stdin": true}).to_string();
            let pid = wanted(post(server.port, "/process/start", &started))?["pid"].to_string();
            wanted(get(server.port, &format!("/process/{pid}")))?;
            let typed = json!({"data": "hello\n"}).to_string();
            wanted(post(server.port, &format!("/process/{pid}/input"), &typed))?;
            wanted(get(server.port, &format!("/process/{pid}/output")))?;
            wanted(post(server.port, &format!("/process/{pid}/signal"), r#"{"signal":"SIGKILL"}"#))?;
        }
        2 => {
            let session = wanted(post(server.port, "/pty/sessions", r#"{"shell":"/bin/sh"}"#))?;
            let id = session["session_id"].as_str().unwrap().to_owned();
            wanted(get(server.port, &format!("/pty/sessions/{id}")))?;
            let url = format!("ws://localhost:{}/pty?session_id={id}", server.pty_port.unwrap());
            let (mut socket, _) = tokio_tungstenite::tungstenite::connect(url).unwrap();
            // Any first message will do.
            socket.read().unwrap();
            drop(socket);
            wanted(call(server, "DELETE", &format!("/pty/sessions/{id}"), ""))?;
        }
        3 => {
            // A client that leaves while it is being answered, and one that leaves before it has asked.
            let body = r#"{"command":"sh -c 'while :; do echo x; done'"}"#;
            let mut stream = connect(server.port);
            let head =
                format!("POST /shell/stream HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(head.replace("Host: a", "Host: localhost").as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            drop(stream);
            connect(server.port).write_all(b"POST /shell HTTP/1.1\r\nHost: localhost\r\nContent-Le").unwrap();
        }
        4 => {
            let url = format!("ws://localhost:{}/tunnel?port={}", server.port, server.port);
            // Whether the rules let it through is not the question here.
            let _ = tokio_tungstenite::tungstenite::connect(url);
        }
        _ => {
            // Refusals of every kind.
            for (target, body) in
                [("/files/mkdir", "{"), ("/nowhere", "{}"), ("/shell", r#"{"command":"none"}"#)]
            {
                let answer = post(server.port, target, body);
                if !(400..500).contains(&answer.status) {
                    return Err(answer);
                }
            }
        }
    }
    Ok(())
}

/// What a server holds: descriptors, resident KiB, children.
fn holds(server: &Server) -> (usize, u64, usize) {
    let proc = format!("/proc/{}", server.pid());
    let status = std::fs::read_to_string(format!("{proc}/status")).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let memory = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    let children = std::fs::read_dir(format!("{proc}/task")).unwrap().map(|task| {
        let children = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        children.split_whitespace().count()
    });
    let children = children.sum();
    (std::fs::read_dir(format!("{proc}/fd")).unwrap().count(), memory, children)
}

/// What its descriptors are, by kind.
fn open(server: &Server) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for entry in std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().filter_map(Result::ok) {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        let target = target.display().to_string();
        let kind = target.split(":[").next().unwrap_or_default().to_owned();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

/// A round over everything, so that what is made once is there when measuring begins.
fn round(server: &Server, turn: u64, answers: &Mutex<BTreeMap<String, u64>>) {
    for (endpoint, method, target, body) in CALLS {
        let answer = call(server, method, target, &body.replace("{n}", &(turn % 200).to_string()));
        // Busy is a right answer where four clients share a limit.
        assert!(
            answer.status == 200 || answer.status == 429,
            "{endpoint}: {} {}",
            answer.status,
            answer.json()
        );
        *answers.lock().unwrap().entry(format!("{endpoint} {}", answer.status)).or_default() += 1;
    }
    for story in 0..6 {
        if let Err(answer) = stories(server, turn * 6 + story) {
            assert_eq!(answer.status, 429, "{}", answer.json());
        }
    }
}

/// Four clients that ask everything, for so long.
fn load(server: &Server, time: Duration, turns: &AtomicU64, answers: &Mutex<BTreeMap<String, u64>>) {
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while Instant::now() < until {
                    round(server, turns.fetch_add(1, Ordering::Relaxed), answers);
                }
            });
        }
    });
}

#[test]
#[ignore = "measures memory, so it runs alone: cargo test -p runtime --test http a_soak -- --ignored"]
fn a_soak_leaves_nothing_behind() {
    let asked = std::env::var("SOAK_SECONDS").ok().map(|text| text.parse::<u64>().unwrap());
    let time = Duration::from_secs(asked.unwrap_or(30));
    let policy = r#"{"base_dir":"{base}","endpoints":{"group:dev_tools":true,
        "*":{"limits":{"rate_per_minute":1000000,"max_concurrency":4}},
        "group:core":{"limits":{"rate_per_minute":1000000,"max_concurrency":4}}}}"#;
    let server = Setup::new()
        .policy(policy)
        .file("kept", "inside\n")
        .file("repository/file", "inside\n")
        .file("story/kept", "")
        .env("ABX_AUDIT_FILE", "{dir}/audit.jsonl")
        .start();
    let repository = server.base().join("repository");
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(&repository).status();
    assert!(made.is_ok_and(|status| status.success()), "git is needed");
    let answers = Mutex::default();
    // The same load first, until memory has settled: what the allocator keeps for four clients at once is no leak, and
    // a leak never settles.
    let turns = AtomicU64::new(1000);
    let mut last = 0;
    let settled = (0..24).any(|window| {
        load(&server, Duration::from_secs(5), &turns, &answers);
        let now = holds(&server).1;
        let grown = now.saturating_sub(last);
        last = now;
        window >= 7 && grown < 2 << 10
    });
    assert!(settled, "memory does not settle under an even load: {last} KiB");
    std::thread::sleep(Duration::from_millis(2500));
    let before = holds(&server);
    load(&server, time, &turns, &answers);
    // What was cut is ended by SIGKILL after two seconds at the latest.
    let settled = Instant::now() + PATIENCE;
    while holds(&server).0 > before.0 || holds(&server).2 > before.2 {
        let left = holds(&server);
        assert!(Instant::now() < settled, "before {before:?}, after {left:?}: {:#?}", open(&server));
        std::thread::sleep(Duration::from_millis(100));
    }
    let after = holds(&server);
    assert!(after.1 < before.1 + (16 << 10), "KiB before {before:?}, after {after:?}");
    assert_eq!(get(server.port, "/pty/sessions").json()["sessions"], json!([]));
    // Every endpoint that takes a body still has its four slots, and not five.
    for (_, _, target, body) in CALLS.iter().filter(|call| call.1 == "POST") {
        slots::are_free(&server, 4, target, body);
    }
    let counted: u64 = answers.lock().unwrap().values().sum();
    eprintln!("{counted} calls in {time:?}; descriptors, KiB, children: {before:?} before, {after:?} after");
    eprintln!("{:#?}", answers.lock().unwrap());
}

#[test]
fn the_soak_asks_every_built_endpoint() {
    let not_built = include_str!("../endpoints/not_built.txt");
    let not_built: BTreeSet<&str> = not_built.lines().collect();
    let built: BTreeSet<&str> =
        ENDPOINTS.iter().map(|declared| declared.name).filter(|name| !not_built.contains(name)).collect();
    let left_out = LEFT_OUT.iter().map(|(name, _)| *name);
    let mut asked: BTreeSet<&str> = CALLS.iter().map(|call| call.0).chain(left_out).collect();
    asked.extend(IN_STORIES);
    let missing: Vec<_> = built
        .difference(&asked)
        .filter(|name| !name.starts_with("browser") && !name.starts_with("agents"))
        .collect();
    assert!(missing.is_empty(), "add these to the soak: {missing:?}");
}
