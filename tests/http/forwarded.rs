//! `--forward-output`: what background processes print stands in the server's log too.

use crate::raw::{get, post};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::json;
use std::time::{Duration, Instant};

fn start(server: &Server, command: &str) -> i64 {
    let answer = post(server.port, "/process/start", &json!({"command": command}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["pid"].as_i64().unwrap()
}

/// The lines of the log that speak of a process, without what comes before.
fn said(server: &Server, pid: i64) -> Vec<String> {
    let of = format!("agent-sandbox-server: pid {pid} ");
    server.stderr().iter().filter_map(|line| line.strip_prefix(&of)).map(str::to_owned).collect()
}

// runtime 60
#[test]
fn row_60_the_log_shows_what_a_crashed_process_said_and_how_it_ended() {
    let server = Setup::new().arg("--forward-output").start();
    let pid = start(
        &server,
        r#"sh -c 'printf "one\ntw"; sleep 0.1; echo o; sleep 0.1; printf "bad\033[2J\rforged" >&2; kill -9 $$'"#,
    );
    server.wait_for(&format!("pid {pid} was ended by signal 9"));
    let lines = said(&server, pid);
    // Nothing orders one pipe beside the other; the end comes last.
    let (errors, others): (Vec<_>, Vec<_>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with("stderr: "));
    assert_eq!(errors, ["stderr: bad\\u{1b}[2J\\rforged"]);
    assert_eq!(others, ["stdout: one", "stdout: two", "was ended by signal 9"]);
    assert_eq!(lines.last().unwrap(), "was ended by signal 9");
    // Its log is kept as ever.
    let output = get(server.port, &format!("/process/{pid}/output")).json();
    assert_eq!(
        (&output["stdout"], &output["stderr"]),
        (&json!("one\ntwo\n"), &json!("bad\u{1b}[2J\rforged"))
    );

    // Calls have an answer of their own.
    post(server.port, "/shell", &json!({"command": "echo answered"}).to_string());
    assert!(!server.stderr().iter().any(|line| line.contains("stdout: answered")));

    // A flood is counted instead.
    let flood = start(&server, "seq 1 20000");
    server.wait_for(&format!("pid {flood} ended with exit code 0"));
    let number = |line: &str| line.split(' ').find_map(|word| word.parse::<usize>().ok()).unwrap_or_default();
    let counted = || {
        let (told, lines) = (server.stderr(), said(&server, flood));
        let lost =
            told.iter().filter(|line| line.ends_with("the log takes no more")).map(|line| number(line));
        let (skipped, shown): (Vec<_>, Vec<_>) = lines
            .iter()
            .filter(|line| line.starts_with("stdout: "))
            .partition(|line| line.contains(" lines "));
        let skipped = skipped.iter().map(|line| number(line)).sum::<usize>();
        (shown.len() + skipped + lost.sum::<usize>(), skipped > 0)
    };
    let until = Instant::now() + PATIENCE;
    while counted() != (20_000, true) {
        assert!(Instant::now() < until, "{:?} of 20,000 lines are accounted for", counted());
        std::thread::sleep(Duration::from_millis(20));
    }

    // What still runs is told of before the server is gone.
    let last = start(&server, "sh -c 'echo up; sleep 60'");
    server.wait_for(&format!("pid {last} stdout: up"));
    let (status, lines) = server.stop();
    assert_eq!(status, Some(0));
    assert!(lines.iter().any(|line| line.ends_with(&format!("pid {last} was ended by signal 15"))));
}

#[test]
fn without_the_flag_the_log_keeps_silent() {
    let server = Setup::new().start();
    let pid = start(&server, "sh -c 'echo secret; exit 3'");
    let ended = get(server.port, &format!("/process/{pid}?wait=60")).json();
    assert_eq!(ended["exit_code"], 3);
    assert_eq!(said(&server, pid), [""; 0]);
}
