//! Who children run as: another user than root, the server's own where that is nobody special, and a server that is
//! process 1.
//!
//! Whoever becomes another must be root first: without it these tests have nothing to show and return.

use crate::raw::{get, post, request};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A user of no machine.
const STRANGER: u32 = 61234;

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

fn run(server: &Server, command: &str) -> Value {
    post(server.port, "/shell", &json!({"command": command}).to_string()).json()
}

fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// A program that tries to read what the server knows, and says how it went.
const SPY: &str = r#"
import ctypes, os, sys
server = int(sys.argv[1])
for name in ("mem", "environ", "maps"):
    try:
        open(f"/proc/{server}/{name}", "rb").read(1)
        print(name, "open")
    except OSError as error:
        print(name, "refused" if error.errno in (1, 13) else error.errno)
ctypes.CDLL(None, use_errno=True).ptrace(16, server, 0, 0)
print("ptrace", "refused" if ctypes.get_errno() == 1 else ctypes.get_errno())
"#;

/// What the spy must find.
const NOTHING: &str = "mem refused\nenviron refused\nmaps refused\nptrace refused\n";

// security 149, 161
#[test]
fn row_149_children_of_another_user_are_that_user_at_every_door() {
    if !root() {
        return;
    }
    let server = Setup::new()
        .arg("--child-user")
        .arg(&format!("{STRANGER}:{STRANGER}"))
        .env("ABX_SERVER_ENABLED_GROUPS", "dev_tools")
        .env("ABX_AUDIT_FILE", "{dir}/audit.log")
        .env("HOME", "/root")
        .env("PATH", "/usr/bin:/bin")
        .start();
    std::os::unix::fs::chown(server.base(), Some(STRANGER), Some(STRANGER)).unwrap();
    assert!(
        !server.stderr().iter().any(|line| line.contains("children_share_root")),
        "{:?}",
        server.stderr()
    );

    let wanted = format!("uid={STRANGER} gid={STRANGER} groups={STRANGER}\n");
    assert_eq!(run(&server, "id"), json!({"stdout": wanted, "stderr": "", "exit_code": 0}));
    assert_eq!(run(&server, "sh -c 'echo $HOME'")["stdout"], "/\n");
    assert_eq!(
        run(&server, "grep -E ^Cap(Prm|Eff) /proc/self/status")["stdout"],
        "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
    );
    let streamed = post(server.port, "/shell/stream", &json!({"command": "id -u"}).to_string());
    assert!(String::from_utf8_lossy(&streamed.body).contains(&format!("{{\"data\":\"{STRANGER}\"}}")));
    let code = json!({"language": "bash", "code": "id -u; id -G"});
    assert_eq!(
        post(server.port, "/code/run", &code.to_string()).json()["stdout"],
        format!("{STRANGER}\n{STRANGER}\n")
    );
    let started =
        post(server.port, "/process/start", &json!({"command": "sh -c 'id -u > who; sleep 60'"}).to_string());
    assert!(soon(
        || std::fs::read_to_string(server.base().join("who")).is_ok_and(|who| who == format!("{STRANGER}\n"))
    ));
    // A server of root signals children of anybody.
    let target = format!("/process/{}", started.json()["pid"]);
    assert_eq!(post(server.port, &format!("{target}/signal"), r#"{"signal": 9}"#).status, 200);
    assert_eq!(get(server.port, &format!("{target}?wait=60")).json()["signal"], 9);

    // The terminal is the child's own, by its name too.
    let shell = json!({"shell": "/bin/sh", "env": {"PS1": "$"}});
    let session = post(server.port, "/pty/sessions", &shell.to_string()).json();
    let id = session["session_id"].as_str().unwrap();
    let url = format!("ws://localhost:{}/pty?session_id={id}", server.port);
    let (mut socket, _) = tokio_tungstenite::tungstenite::connect(url).unwrap();
    let typed = json!({"type": "input", "data": "id -u > $(tty); stat -c %u $(tty) > /dev/tty; exit\n"});
    socket.send(typed.to_string().into()).unwrap();
    let mut seen = String::new();
    while let Ok(message) = socket.read() {
        if let Ok(frame) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) {
            seen.push_str(frame["data"].as_str().unwrap_or_default());
        }
    }
    assert!(seen.contains(&format!("{STRANGER}\r\n{STRANGER}\r\n")), "{seen:?}");

    let spied = run(&server, &format!("python3 -c '{SPY}' {}", server.pid()));
    assert_eq!((&spied["stdout"], &spied["stderr"]), (&json!(NOTHING), &json!("")));
    let log = server.dir.path().join("audit.log");
    let opened = run(&server, &format!("cat {}", log.display()));
    assert_eq!((&opened["stdout"], &opened["exit_code"]), (&json!(""), &json!(1)));
    assert!(opened["stderr"].as_str().unwrap().contains("Permission denied"));
}

#[test]
fn what_is_put_into_a_folder_belongs_to_whom_the_folder_belongs() {
    if !root() {
        return;
    }
    let user = format!("{STRANGER}:{STRANGER}");
    let server = Setup::new().arg("--child-user").arg(&user).env("PATH", "/usr/bin:/bin").start();
    std::fs::create_dir(server.base().join("roots")).unwrap();
    std::os::unix::fs::chown(server.base(), Some(STRANGER), Some(STRANGER)).unwrap();
    for path in ["new", "deep/er/new", "roots/deep/new"] {
        let body = json!({"path": path, "content_base64": "YQo="});
        assert_eq!(post(server.port, "/files/upload-stream", &body.to_string()).status, 200);
    }
    assert_eq!(post(server.port, "/files/mkdir", r#"{"path": "made/in"}"#).status, 200);

    let goes_on =
        "sh -c 'echo b >> new && echo b >> deep/er/new && touch deep/own deep/er/own made/own made/in/own'";
    assert_eq!(run(&server, goes_on), json!({"stdout": "", "stderr": "", "exit_code": 0}));
    let owners = run(
        &server,
        "stat -c '%u %g %n' new deep deep/er deep/er/new made made/in roots/deep roots/deep/new",
    );
    let his = |name: &str| format!("{STRANGER} {STRANGER} {name}\n");
    let wanted: String = ["new", "deep", "deep/er", "deep/er/new", "made", "made/in"].map(his).concat();
    assert_eq!(owners["stdout"], wanted + "0 0 roots/deep\n0 0 roots/deep/new\n");
}

#[test]
fn a_named_user_is_at_home_where_the_list_says() {
    let list = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let Some(line) = list.lines().find(|line| line.starts_with("nobody:")).filter(|_| root()) else { return };
    let fields: Vec<&str> = line.split(':').collect();
    let server = Setup::new().arg("--child-user").arg("nobody").env("HOME", "/root").start();
    let told = run(&server, "sh -c 'id -u; id -g; id -G; echo $HOME $USER $LOGNAME'");
    let wanted = format!("{}\n{}\n{}\n{} nobody nobody\n", fields[2], fields[3], fields[3], fields[5]);
    assert_eq!(told["stdout"], wanted);
}

// security 149
#[test]
fn row_149_a_server_that_shares_root_with_its_children_says_so() {
    if !root() {
        return;
    }
    for args in [&[][..], &["--child-user", "root"], &["--child-user", "0"]] {
        let server = args.iter().fold(Setup::new(), |setup, arg| setup.arg(arg)).start();
        let line = server.wait_for("children_share_root");
        assert!(line.starts_with("agent-sandbox-server: warning: children_share_root: "), "{line}");
        assert_eq!(run(&server, "id -u")["stdout"], "0\n");
    }
}

#[test]
fn a_user_that_cannot_be_had_is_a_refusal_to_start() {
    let refused = |setup: Setup| {
        let refusal = setup.try_start().unwrap_err();
        (refusal.status, refusal.stderr)
    };
    let (status, said) = refused(Setup::new().arg("--child-user").arg("no such user"));
    assert_eq!(status, 1);
    assert!(said.contains("error: --child-user: there is no user `no such user`"), "{said}");
    if root() {
        let (status, said) = refused(Setup::new().user(STRANGER).arg("--child-user").arg("0"));
        assert_eq!(status, 1);
        assert!(said.contains("error: --child-user `0` needs a server that runs as root"), "{said}");
    }
}

// security 149
#[test]
fn row_149_a_server_that_is_nobody_special_serves_and_keeps_its_memory_to_itself() {
    if !root() {
        return;
    }
    for own in [None, Some(STRANGER.to_string())] {
        let setup = Setup::new().user(STRANGER).env("ABX_SERVER_TOKEN", "canary-of-memory");
        let setup = own.iter().fold(setup, |setup, own| setup.arg("--child-user").arg(own));
        let server = setup.start();
        assert!(!server.stderr().iter().any(|line| line.contains("children_share_root")));
        let ask = |method: &str, path: &str, body: Value| {
            let headers = [("X-Access-Token", "canary-of-memory"), ("Content-Type", "application/json")];
            let body = body.to_string();
            request(server.port, method, path, &headers, Some(body.as_bytes())).json()
        };
        let command = format!("python3 -c '{SPY}' {}", server.pid());
        let spied = ask("POST", "/shell", json!({"command": command}));
        assert_eq!((&spied["stdout"], &spied["stderr"]), (&json!(NOTHING), &json!("")));
        assert_eq!(ask("POST", "/shell", json!({"command": "id -u"}))["stdout"], format!("{STRANGER}\n"));
        // What left the group is found without root as well.
        let script = "sh -c '(setsid sh -c \"echo \\$\\$ > pid; exec sleep 600\" &); sleep 600'";
        let pid = [0.5, 2.0, 8.0, 30.0].into_iter().find_map(|timeout| {
            let late = ask("POST", "/shell", json!({"command": script, "timeout": timeout}));
            assert_eq!(late["code"], "timeout");
            // A busy machine may not have come so far.
            std::fs::read_to_string(server.base().join("pid")).ok().filter(|pid| pid.ends_with('\n'))
        });
        let place = format!("/proc/{}", pid.unwrap().trim());
        assert!(soon(|| !std::path::Path::new(&place).exists()), "a descendant survived");
    }
}

#[test]
fn as_process_1_it_reaps_orphans_obeys_signals_and_ends_with_0() {
    let unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
    let works = std::process::Command::new(unshare[0]).args(&unshare[1..]).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        return; // no namespaces for this user
    }
    let mut server = Setup::new().under(&unshare).start();
    assert_eq!(run(&server, "sh -c 'echo $PPID'")["stdout"], "1\n");
    for _ in 0..20 {
        run(&server, "sh -c '(setsid sh -c \"sleep 0.05\" > /dev/null 2>&1 &) ; (true &)'");
    }
    let script = r#"sh -c 'for s in /proc/[0-9]*/stat; do read l < $s && echo "$l"; done 2>/dev/null'"#;
    let zombies =
        || run(&server, script)["stdout"].as_str().unwrap().lines().filter(|l| l.contains(") Z ")).count();
    assert!(soon(|| zombies() == 0), "{} zombies", zombies());
    let left = "sh -c '(setsid sh -c \"trap : TERM; echo ok > left; while :; do sleep 0.1; done\" > /dev/null 2>&1 &)'";
    run(&server, left);
    assert!(soon(|| server.base().join("left").exists()));
    let inner = server.inner_pid().to_string();
    let kill = |name: &str| {
        assert!(std::process::Command::new("kill").args([name, &inner]).status().unwrap().success());
    };
    kill("-HUP");
    server.wait_for("policy reloaded");
    assert_eq!(get(server.port, "/health").status, 200);
    kill("-TERM");
    let begun = Instant::now();
    assert_eq!(server.wait(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}
