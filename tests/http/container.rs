//! The example of a container, without an engine: `examples/container/boot.sh` makes a root with little in it, and the
//! server is process 1 there.
//!
//! Only root can make one: elsewhere the test says so and passes.

use crate::raw::{get, post};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The server in a root of its own, in the directory of the test.
fn boot(root: &Path) -> Option<Server> {
    let works = Command::new("unshare").args(["--mount", "--pid", "--fork", "true"]).output();
    if !rustix::process::geteuid().is_root() || !works.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no root of its own can be made here");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/container/boot.sh");
    let words = [Path::new("sh"), &script, root].map(|word| word.to_str().unwrap().to_owned());
    let setup = Setup::new().under(&words.each_ref().map(String::as_str)).no_base_dir();
    Some(setup.env("ABX_SERVER_ENABLED_GROUPS", "dev_tools").start())
}

fn ask(server: &Server, path: &str, body: Value) -> Value {
    post(server.port, path, &body.to_string()).json()
}

fn shell(server: &Server, command: &str) -> Value {
    ask(server, "/shell", json!({ "command": command }))
}

// runtime 34
#[test]
fn row_34_a_root_without_bash_is_served_by_process_1() {
    let root = tempfile::tempdir().unwrap();
    std::fs::set_permissions(root.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Some(mut server) = boot(root.path()) else { return };

    // Process 1, nobody special, in a root that holds what was put there.
    let told = shell(&server, "sh -c 'echo $PPID; id -u; id -G; ls /'");
    let seen = told["stdout"].as_str().unwrap();
    // The folders of libraries are those that the binary of this machine asks for.
    let seen: Vec<&str> = seen.lines().filter(|line| !line.starts_with("lib")).collect();
    assert_eq!(seen, ["1", "1000", "1000", "bin", "dev", "etc", "home", "proc", "tmp", "usr"], "{told}");
    let port = server.port;
    let healthy = shell(&server, &format!("agent-sandbox-server healthcheck --port {port}"));
    assert_eq!(healthy, json!({"stdout": "", "stderr": "", "exit_code": 0}));

    // No bash: what may fall back does and says so, what may not says what is missing.
    assert_eq!(shell(&server, "bash -c true")["code"], "command_not_found");
    let session = ask(&server, "/pty/sessions", json!({}));
    assert_eq!(session["shell"], "/bin/sh", "{session}");
    let door = "/api/v2/sandboxes/box/execute";
    let ran = ask(&server, door, json!({"command": "echo $0"}));
    assert_eq!(ran, json!({"stdout": "/bin/sh\n", "stderr": "", "exit_code": 0}));
    let line: Value = serde_json::from_str(&server.wait_for("\"sandbox\":\"box\"")).unwrap();
    assert_eq!(line["program"], "/bin/sh", "{line}");
    let named = ask(&server, door, json!({"command": "echo $0", "shell": "/bin/zsh"}));
    assert_eq!((&named["code"], &named["parameter"]), (&json!("command_not_found"), &json!("shell")));
    let code = ask(&server, "/code/run", json!({"language": "bash", "code": "true"}));
    assert_eq!(code["error"], "The interpreter of bash is not installed");
    assert_eq!(get(port, "/system/info").json()["python_version"], Value::Null);
    assert_eq!(get(port, "/git/status").json()["error"], "git is not installed");

    // Files work, and orphans are waited for.
    let text = json!({"path": "note.txt", "content_base64": "aGVsbG8="});
    assert_eq!(ask(&server, "/upload", text), json!({"path": "/home/user/note.txt", "bytes": 5}));
    assert_eq!(shell(&server, "cat note.txt")["stdout"], "hello");
    for _ in 0..20 {
        shell(&server, "sh -c '(sleep 0.05 > /dev/null 2>&1 &)'");
    }
    let states = r#"sh -c 'for s in /proc/[0-9]*/stat; do read l < $s && echo "$l"; done 2>/dev/null'"#;
    let zombies =
        || shell(&server, states)["stdout"].as_str().unwrap().lines().filter(|l| l.contains(") Z ")).count();
    let begun = Instant::now();
    while zombies() > 0 {
        assert!(begun.elapsed() < PATIENCE, "{} zombies", zombies());
        std::thread::sleep(Duration::from_millis(10));
    }

    // And it ends as process 1 must.
    let inner = server.inner_pid().to_string();
    assert!(Command::new("kill").args(["-TERM", &inner]).status().unwrap().success());
    let begun = Instant::now();
    assert_eq!(server.wait(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}
