//! Templates in Python from outside: what a crash, a hang and a flood in one cost, and the example that is shipped.

use crate::raw::{self, Answer, connect, get, request};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const HEAD: &str = "
import os, sys, threading, time
from agent_sandbox.server import *
table = default_table()
";

pub fn template(text: &str) -> Setup {
    Setup::new()
        .file("commands.py", &format!("{HEAD}{text}\nstart(9000)\n"))
        .arg("--commands")
        .arg("{base}/commands.py")
}

fn post(port: u16, path: &str, body: &Value) -> Answer {
    raw::post(port, path, &body.to_string())
}

fn run(server: &Server, command: &str, arguments: &Value) -> Answer {
    post(server.port, &format!("/commands/{command}"), arguments)
}

pub fn result(server: &Server, command: &str, arguments: &Value) -> Value {
    let answer = run(server, command, arguments);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["result"].clone()
}

pub fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python-hello").canonicalize().unwrap()
}

const LIVES: &str = "
began, together = threading.Event(), threading.Barrier(8)
@command
def ping(): return os.getpid()
@command
def dies(): os._exit(7)
@command
def crashes():
    import ctypes
    ctypes.string_at(0)
@command
def hangs():
    began.set()
    time.sleep(600)
@command
def hung(): return began.wait(60)
@table.route('GET', '/waits', group='commands')
def waits(request):
    began.wait(60)
    open(request.query['at'] + '/begun', 'w').close()
    while not os.path.exists(request.query['at'] + '/go'): time.sleep(0.02)
    return ServerResponse.ok({'hung': began.is_set(), 'pid': os.getpid()})
@command
def meets(): return together.wait(60) >= 0
@table.route('GET', '/hangs', group='commands')
def hangs_too(request): time.sleep(600)
";

// security 118
#[test]
fn row_118_a_public_route_of_a_closed_group_is_closed() {
    let commands = example().join("commands.py");
    let setup = Setup::new().arg("--commands").arg(commands.to_str().unwrap());
    for (open, status) in [(true, 200), (false, 404)] {
        let server = setup.clone().policy(&json!({"groups": {"commands": open}}).to_string()).start();
        let answer = get(server.port, "/public/status");
        assert_eq!(answer.status, status, "{answer:?}");
        if !open {
            let (code, rule) = (answer.code(), answer.json()["rule"].clone());
            assert_eq!((code.as_str(), rule), ("endpoint_disabled", json!("policy:groups.commands")));
        }
    }
}

#[test]
fn a_crash_costs_its_call_and_the_next_one_finds_a_new_worker() {
    let server = template(LIVES).start();
    let first = result(&server, "ping", &json!({}));
    for command in ["dies", "crashes"] {
        let answer = run(&server, command, &json!({}));
        let wanted = json!({"error": "The commands worker ended while it ran this call", "type": "RuntimeError", "code": "internal"});
        assert_eq!((answer.status, answer.json()), (500, wanted));
        assert_eq!(get(server.port, "/health").status, 200);
        assert_ne!(result(&server, "ping", &json!({})), first);
    }
}

#[test]
fn a_hang_costs_its_call_alone() {
    let policy = r#"{"endpoints": {"commands_run": {"limits": {"timeout_seconds": 10}}, "custom:get_hangs": {"limits": {"timeout_seconds": 1}}}}"#;
    let server = template(LIVES).policy(policy).start();
    let first = result(&server, "ping", &json!({}));
    let (port, base) = (server.port, server.base());
    let waits = format!("/waits?at={}", base.display());
    // It is under way when the other begins to hang, and still when that is given up.
    let other = std::thread::spawn(move || get(port, &waits));
    // One that begins while the other hangs is answered.
    let meanwhile = std::thread::spawn(move || post(port, "/commands/hung", &json!({})));
    let begun = Instant::now();
    let answer = run(&server, "hangs", &json!({}));
    let wanted =
        json!({"error": "Command timed out after 10 seconds", "type": "TimeoutError", "code": "timeout"});
    assert_eq!((answer.status, answer.json()), (500, wanted));
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(meanwhile.join().unwrap().json(), json!({"result": true}));
    assert!(base.join("begun").exists() && !other.is_finished());
    // A new worker answers while the old one finishes what it was doing.
    assert_ne!(result(&server, "ping", &json!({})), first);
    std::fs::write(base.join("go"), "").unwrap();
    assert_eq!(other.join().unwrap().json(), json!({"hung": true, "pid": first}));
    let pid = first.as_u64().unwrap();
    let gone = || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_err();
    let until = Instant::now() + PATIENCE;
    while !gone() {
        assert!(Instant::now() < until, "the old worker stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    let answer = get(server.port, "/hangs");
    let wanted =
        json!({"error": "Command timed out after 1 seconds", "type": "TimeoutError", "code": "timeout"});
    assert_eq!((answer.status, answer.json()), (500, wanted));
}

#[test]
fn a_template_that_dies_at_once_is_started_ever_more_slowly() {
    let flag = "
if os.path.exists('{base}/ready'): os._exit(1)
open('{base}/ready', 'w').close()
@command
def ping(): return 1
";
    // The first import is the one that tells what there is; every later one dies.
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let server = template(&flag.replace("{base}", &dir.path().display().to_string())).start();
    server.wait_for_count("no commands worker", 6);
    // A tenth of a second before the second one, and twice as long before each further one.
    assert!(begun.elapsed() >= Duration::from_millis(3_100), "six starts in {:?}", begun.elapsed());
    assert_eq!(get(server.port, "/health").status, 200);
}

#[test]
fn calls_run_side_by_side_in_one_worker() {
    let server = template(LIVES).start();
    // Each waits for all the others.
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let port = server.port;
            std::thread::spawn(move || post(port, "/commands/meets", &json!({})).json())
        })
        .collect();
    assert!(calls.into_iter().all(|call| call.join().unwrap() == json!({"result": true})));
}

#[test]
fn a_stream_goes_as_fast_as_its_client_and_ends_with_it() {
    let text = "
made = [0]
closed = threading.Event()
@table.route('GET', '/flood', group='commands', streaming=True)
def flood(request):
    def events():
        try:
            while True:
                made[0] += 1
                yield 'data: ' + 'x' * 10000 + '\\n\\n'
        finally:
            closed.set()
    return SSEResponse(events())
@command
def state(): return [made[0], closed.wait(60)]
@command
def count(): return made[0]
";
    let server = template(text).start();
    let mut stream = connect(server.port);
    stream.write_all(b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut piece = vec![0; 30_000];
    stream.read_exact(&mut piece).unwrap();
    let count = || {
        std::thread::sleep(Duration::from_millis(700));
        result(&server, "count", &json!({})).as_u64().unwrap()
    };
    let (mut first, until) = (0, Instant::now() + PATIENCE);
    loop {
        let second = count();
        if second == first {
            break;
        }
        first = second;
        assert!(Instant::now() < until, "nobody reads, and more and more is made: {first}");
    }
    // Buffers of two sockets, and the room that a stream has.
    assert!(first < 3_000, "{first} events of 10 kB were made for 30 kB read");
    drop(stream);
    assert_eq!(result(&server, "state", &json!({}))[1], json!(true), "the generator is closed");
}

#[test]
fn what_a_template_prints_is_in_the_log() {
    let text = "
print('at import')
@command
def says(): print('in a call'); sys.stdout.flush()
";
    let server = template(text).start();
    result(&server, "says", &json!({}));
    server.wait_for("commands: in a call");
}

#[test]
fn the_secrets_of_the_policy_are_kept_from_the_import_too() {
    let text = "
seen = sorted(n for n in os.environ if n in ('CI_TOKEN', 'ABX_SERVER_TOKEN', 'PLAIN'))
@command
def told(): return seen
if seen: raise RuntimeError(','.join(seen))
";
    let policy = r#"{"auth": {"tokens": [{"id": "ci", "token_env": "CI_TOKEN", "scopes": ["*"]}]}}"#;
    let server = template(text)
        .policy(policy)
        .env("CI_TOKEN", "s3cret-ci")
        .env("ABX_SERVER_TOKEN", "s3cret-own")
        .start();
    let headers = [("X-Access-Token", "s3cret-ci"), ("Content-Type", "application/json")];
    let answer = request(server.port, "POST", "/commands/told", &headers, Some(b"{}"));
    assert_eq!(answer.json(), json!({"result": []}));
}

#[test]
fn the_example_runs_unmodified() {
    let file = example().join("commands.py").display().to_string();
    let server = Setup::new().arg("--commands").arg(&file).start();
    assert_eq!(get(server.port, "/hello/Ann").json(), json!({"greeting": "Hello, Ann!"}));
    assert_eq!(get(server.port, "/public/status").json(), json!({"status": "running", "public": true}));
    assert_eq!(result(&server, "hello", &json!({"name": "Qoder"})), json!("Hello, Qoder!"));
    assert_eq!(result(&server, "add", &json!({"a": "2", "negate": "yes"})), json!(-2.5));
    assert!(result(&server, "_debug_info", &json!({}))["python"].is_string());
    let listed = get(server.port, "/commands").json();
    let names: Vec<&str> =
        listed["commands"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "hello"]);
    assert_eq!(
        listed["commands"][1],
        json!({"name": "hello", "description": "Say hello.", "args": [
            {"name": "name", "type": "string", "required": false, "default": "World", "description": ""}]})
    );
    let events = post(server.port, "/my/stream", &json!({"count": 1}));
    let text = "event: progress\ndata: {\"step\": 1}\n\nevent: done\ndata: {\"total\": 1}\n\n";
    assert_eq!(String::from_utf8_lossy(&events.body), text);
    let shown = get(server.port, "/capabilities").json();
    assert_eq!(
        shown["endpoints"]["custom:get_hello_name"],
        json!({"method": "GET", "path": "/hello/{name}", "group": "commands", "summary": "Greet by path.", "streaming": false,
            "enabled": true, "allowed": true, "reason": null, "rule": "default:on", "scopes": ["commands:run"],
            "limits": {}, "paths": {}, "params": {}})
    );
    assert_eq!(shown["group_summary"]["commands"], json!({"enabled": 5, "total": 5}));
    assert_eq!(shown["endpoints"]["custom:post_my_stream"]["streaming"], json!(true));
}
