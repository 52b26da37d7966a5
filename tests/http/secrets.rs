//! Secrets of every source, each with a text of its own; a mixed run; then everything that came out is searched for them.

use crate::raw::{Answer, connect, get, read_all, request};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

/// Where a secret comes from. The text of each is `canary-` and its number.
const SOURCES: [&str; 18] = [
    "ABX_SERVER_TOKEN",
    "a variable of token_env",
    "X-Access-Token that is wrong",
    "Authorization: Bearer that is wrong",
    "Authorization: Basic",
    "a token in the query",
    "a cookie",
    "a header that nobody knows",
    "a WebSocket subprotocol",
    "a variable of one request",
    "a variable for later children",
    "behind --token= of a command",
    "behind --password of a command",
    "standard input",
    "the content of an upload",
    "a comment of the policy",
    "a second value of X-Access-Token",
    "a variable of the server that is not its own",
];

fn canary(source: usize) -> String {
    format!("canary-{source:02}-kqzxwv")
}

/// Everything that came out, by where.
#[derive(Default)]
struct Outputs(BTreeMap<String, Vec<u8>>);

impl Outputs {
    fn add(&mut self, place: &str, bytes: &[u8]) {
        let kept = self.0.entry(place.to_owned()).or_default();
        kept.extend_from_slice(bytes);
        kept.push(b'\n');
    }

    fn answer(&mut self, place: &str, answer: &Answer) -> Answer {
        self.add(&format!("the answer to {place}"), format!("{:?}", answer.headers).as_bytes());
        self.add(&format!("the answer to {place}"), &answer.body);
        answer.clone()
    }

    /// Each place and the source whose secret stands there.
    fn found(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (place, bytes) in &self.0 {
            for (number, source) in SOURCES.iter().enumerate() {
                let forms = [canary(number), base64(&canary(number))];
                if forms.iter().any(|form| memchr::memmem::find(bytes, form.as_bytes()).is_some()) {
                    found.push(format!("{source}: in {place}"));
                }
            }
        }
        found
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(text)
}

fn start() -> Server {
    let policy = format!(
        "# {}\nbase_dir: \"{{base}}\"\nendpoints: {{\"group:dev_tools\": true}}\nauth:\n  tokens:\n    \
         - {{id: ci, token_env: CI_TOKEN, scopes: [\"*\"]}}\n",
        canary(15)
    );
    let setup = Setup::new().policy(&policy).env("ABX_AUDIT_FILE", "{dir}/audit.jsonl");
    let setup = setup.env("ABX_SERVER_TOKEN", &canary(0)).env("CI_TOKEN", &canary(1));
    // The same secret once more, inside a variable that children do inherit.
    let setup = setup.env("HTTP_PROXY", &format!("http://u:{}@proxy", canary(1)));
    setup.env("DATABASE_URL", &format!("postgres://u:{}@db/x", canary(17))).file("repository/f", "x").start()
}

/// Asks with the right token.
fn ask(server: &Server, method: &str, target: &str, body: Option<serde_json::Value>) -> Answer {
    let body = body.map(|body| body.to_string());
    let headers = [("X-Access-Token", canary(1))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    request(server.port, method, target, &headers, body.as_deref().map(str::as_bytes))
}

#[test]
fn rows_146_to_155_no_secret_comes_out() {
    let server = start();
    let mut out = Outputs::default();
    // Wrong and misplaced credentials.
    for (name, value) in [
        ("X-Access-Token", canary(2)),
        ("Authorization", format!("Bearer {}", canary(3))),
        ("Authorization", format!("Basic {}", base64(&canary(4)))),
        ("Cookie", format!("token={}", canary(6))),
        ("X-Unknown", canary(7)),
        ("X-Request-Id", canary(7)),
    ] {
        for target in ["/capabilities", "/files/list?path=.", "/nowhere"] {
            out.answer(name, &request(server.port, "GET", target, &[(name, &value)], None));
        }
    }
    let doubled = [("X-Access-Token", canary(1)), ("X-Access-Token", canary(16))];
    let doubled: Vec<_> = doubled.iter().map(|(name, value)| (*name, value.as_str())).collect();
    out.answer("two tokens", &request(server.port, "GET", "/capabilities", &doubled, None));
    out.answer("a token in the query", &get(server.port, &format!("/capabilities?token={}", canary(5))));
    let query = format!("/files/list?path=.&token={}", canary(5));
    out.answer("a token in the query", &ask(&server, "GET", &query, None));
    for port in [server.port, server.pty_port.unwrap()] {
        let mut stream = connect(port);
        let handshake = format!(
            "GET /pty?session_id=x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: {}\r\n\r\n",
            canary(8)
        );
        stream.write_all(handshake.as_bytes()).unwrap();
        out.answer("a handshake", read_all(&mut stream).only());
    }
    // Children: what they are given, and what they find of the server.
    let server_is = format!("/proc/{}", server.pid());
    let looking = format!("sh -c 'env; cat {server_is}/environ {server_is}/cmdline; ls -l /proc/self/fd'");
    out.answer("/shell", &ask(&server, "POST", "/shell", Some(json!({"command": looking}))));
    out.answer("/shell/stream", &ask(&server, "POST", "/shell/stream", Some(json!({"command": looking}))));
    for (language, code) in [
        ("bash", "env"),
        ("python", "import os; print(dict(os.environ))"),
        ("node", "console.log(process.env)"),
    ] {
        out.answer(
            "/code/run",
            &ask(&server, "POST", "/code/run", Some(json!({"language": language, "code": code}))),
        );
    }
    let started = json!({"command": "sh -c 'env; echo that is all; cat'", "stdin": true});
    let started = out.answer("/process/start", &ask(&server, "POST", "/process/start", Some(started)));
    let pid = started.json()["pid"].to_string();
    let printed = format!("/process/{pid}/output");
    let begun = Instant::now();
    loop {
        let printed = out.answer("/process/output", &ask(&server, "GET", &printed, None)).json();
        if printed["stdout"].as_str().unwrap().ends_with("that is all\n") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "env does not end: {printed}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // On a terminal the same.
    let session = json!({"shell": "/usr/bin/env"});
    let session = out.answer("/pty/sessions", &ask(&server, "POST", "/pty/sessions", Some(session))).json();
    let shown = format!("/pty/sessions/{}?offset=0", session["session_id"].as_str().unwrap());
    let begun = Instant::now();
    while ask(&server, "GET", &shown, None).json()["alive"] == true {
        assert!(begun.elapsed() < PATIENCE, "env does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let shown = out.answer("GET /pty/sessions", &ask(&server, "GET", &shown, None)).json();
    assert!(shown["data"].as_str().unwrap().contains("TERM=xterm-256color\r\n"), "{shown}");
    // What a caller hands over reaches the child that it is for, and nothing else.
    let carried = json!({"command": "true", "env": {"APP_SECRET": canary(9)}});
    out.answer("/shell with env", &ask(&server, "POST", "/shell", Some(carried)));
    let set = json!({"vars": {"APP_SECRET": canary(10)}});
    out.answer("POST /env", &ask(&server, "POST", "/env", Some(set)));
    out.answer("GET /env", &ask(&server, "GET", "/env", None));
    for command in [
        format!("sh -c 'sleep 2' sh --token={}", canary(11)),
        format!("sh -c 'sleep 2' sh --password {}", canary(12)),
        format!("no_such_program --token={}", canary(11)),
    ] {
        for target in ["/process/start", "/shell"] {
            let body = json!({"command": command, "timeout": 1});
            out.answer(&format!("{target} with flags"), &ask(&server, "POST", target, Some(body)));
            out.answer("/process/list", &ask(&server, "GET", "/process/list", None));
        }
    }
    // The answer repeats to the caller what the caller has sent; nothing else may.
    ask(&server, "POST", "/shell", Some(json!({"command": format!("TOKEN={} make", canary(11))})));
    let typed = json!({"data": format!("{}\n", canary(13))});
    out.answer("/process/input", &ask(&server, "POST", &format!("/process/{pid}/input"), Some(typed)));
    let piped = json!({"command": "wc -c", "stdin": base64(&canary(13))});
    out.answer("/shell/stream with stdin", &ask(&server, "POST", "/shell/stream", Some(piped)));
    for path in ["secret", "no/../../way", "secret/below"] {
        let upload = json!({"path": path, "content_base64": base64(&canary(14))});
        out.answer("/upload", &ask(&server, "POST", "/upload", Some(upload)));
    }
    for target in
        ["/capabilities", "/system/info", "/system/metrics", "/ports", "/git/status?path=repository"]
    {
        out.answer(target, &ask(&server, "GET", target, None));
    }
    // A reload that is refused, and one that is not; both say so.
    let path = server.dir.path().join("policy.yaml");
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, good.replace("token_env: CI_TOKEN", &format!("token: {}", canary(15)))).unwrap();
    server.signal("HUP");
    server.wait_for("was not reloaded");
    std::fs::write(&path, &good).unwrap();
    server.signal("HUP");
    server.wait_for("policy reloaded");
    // Later policies find their secrets although the environment is gone.
    let later = good.replace("token_env: CI_TOKEN", "token_env: DATABASE_URL");
    std::fs::write(&path, later).unwrap();
    server.signal("HUP");
    server.wait_for_count("policy reloaded", 2);
    // The process itself.
    for file in ["environ", "cmdline"] {
        out.add(
            &format!("/proc of the server: {file}"),
            &std::fs::read(format!("/proc/{}/{file}", server.pid())).unwrap(),
        );
    }
    let log = server.dir.path().join("audit.jsonl");
    let mut written = Vec::new();
    let (status, stderr) = server.stop_and(|| written = std::fs::read(&log).unwrap());
    assert_eq!(status, Some(0));
    assert!(written.len() > 10_000);
    out.add("the audit log", &written);
    out.add("stderr", stderr.join("\n").as_bytes());
    assert_eq!(out.found(), Vec::<String>::new());
}

#[test]
fn row_154_a_crash_leaves_no_core() {
    let server =
        Setup::new().env("ABX_SERVER_TOKEN", &canary(0)).env("ABX_AUDIT_FILE", "{dir}/audit.jsonl").start();
    let pid = server.pid().to_string();
    let unlimited = Command::new("prlimit").args(["--pid", &pid, "--core=unlimited"]).status();
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if !unlimited.is_ok_and(|status| status.success()) || pattern.starts_with('|') {
        eprintln!("skipped: core files go elsewhere here");
        return;
    }
    let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    let place = cwd.join(pattern.trim());
    let place = place.parent().unwrap();
    let names =
        || -> Vec<_> { std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    let before = names();
    let headers = [("X-Access-Token", canary(0))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(request(server.port, "POST", "/env", &headers, Some(br#"{"vars":{"A":"b"}}"#)).status, 200);
    server.signal("ABRT");
    let log = server.dir.path().join("audit.jsonl");
    while Command::new("kill").args(["-0", &pid]).status().unwrap().success() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let new: Vec<_> = names().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(new.iter().all(|name| !name.to_string_lossy().contains("core")), "{new:?}");
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains(r#""event":"intent""#) && text.trim_end_matches(' ').ends_with("}\n"), "{text}");
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated_at_start() {
    let token = |line: &str| {
        format!(
            "base_dir: \"{{base}}\"\nauth:\n  tokens:\n    - id: ci\n      scopes: [\"*\"]\n      {line}\n"
        )
    };
    for line in [
        format!("token: {}", canary(1)),
        format!("token: \"{}\"", canary(1)),
        format!("token_env: {}", canary(1)),
        format!("token_env: {}", canary(1).replace('-', "_")),
        format!("token_sha256: {}", canary(1)),
        format!("token_env: A, token_sha256: {}", canary(1)),
        format!("secret: '{}' # mine", canary(1)),
    ] {
        let refusal = Setup::new().policy(&token(&line)).try_start().unwrap_err();
        assert_eq!(refusal.status, 1);
        let text = refusal.stderr.replace('_', "-");
        assert!(text.contains("ci") || text.contains("token"), "{text}");
        assert!(!text.contains("kqzxwv"), "{line}: {text}");
    }
    let inline = json!({"auth": {"tokens": [{"id": "ci", "token": canary(1), "scopes": ["*"]}]}}).to_string();
    let refusal = Setup::new().env("ABX_SERVER_POLICY", &inline).try_start().unwrap_err();
    assert!(refusal.status == 1 && !refusal.stderr.contains("kqzxwv"), "{}", refusal.stderr);
}
