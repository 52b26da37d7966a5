//! Agent processes: what is listed of them, what they printed, and that nothing of them is left.

use crate::lab::{Lab, lives, until};
use serde_json::{Value, json};

#[test]
fn processes_that_are_not_there_are_not_found() {
    let lab = Lab::start();
    assert_eq!(lab.get("/agents/processes"), json!({"processes": []}));
    for id in ["prc_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "..agents.db"] {
        assert_eq!(
            lab.refused("GET", &format!("/agents/processes/{id}/logs"), None),
            "404 process_not_found"
        );
        assert_eq!(lab.refused("DELETE", &format!("/agents/processes/{id}"), None), "404 process_not_found");
    }
    let some = "/agents/processes/prc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(lab.refused("GET", &format!("{some}/logs?limit=0"), None), "400 invalid_parameter");
    assert_eq!(lab.refused("GET", &format!("{some}/logs?after=-1"), None), "400 invalid_parameter");
    assert_eq!(lab.refused("DELETE", &format!("{some}?grace_seconds=100"), None), "400 invalid_parameter");
    assert_eq!(lab.refused("DELETE", &format!("{some}?force=perhaps"), None), "400 invalid_parameter");
}

#[test]
fn what_a_crashed_agent_said_can_be_read_afterwards() {
    let lab = Lab::start();
    lab.register("mine", &["--die", "7"]);
    let (status, body) = lab.ask("POST", "/agents/catalog/mine/probe", Some(json!({})));
    assert_eq!((status, &body["exit_code"]), (503, &json!(7)));
    let listed = lab.get("/agents/processes?agent_id=mine");
    assert_eq!(listed["processes"][0]["state"], "dead");
    let id = listed["processes"][0]["process_id"].as_str().unwrap();
    let logs = lab.get(&format!("/agents/processes/{id}/logs"));
    assert_eq!(logs["lines"][0]["text"], "dying as asked");
    assert_eq!((&logs["lines"][0]["stream"], &logs["lines"][0]["n"]), (&json!("stderr"), &json!(1)));
    assert_eq!((&logs["next_after"], &logs["dropped"]), (&json!(1), &json!(0)));
    assert_eq!(lab.refused("DELETE", &format!("/agents/processes/{id}"), None), "404 process_not_found");
}

#[test]
fn an_answer_to_no_request_is_a_line_of_the_log() {
    let lab = Lab::start();
    let answer = |id: u32, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    // What agents say of a line that they cannot read; whose it was they cannot know.
    let unread = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}});
    let script = format!(
        "read l; echo '{}'; read l; echo '{}'; read l; echo '{unread}'; echo '{}'; cat >/dev/null",
        answer(1, json!({"protocolVersion": 1})),
        answer(2, json!({"sessionId": "n"})),
        answer(3, json!({"stopReason": "end_turn"})),
    );
    lab.post("/agents/catalog", json!({"id": "mine", "command": "sh", "args": ["-c", script]}));
    let session = lab.session("mine");
    let turn = lab.turn(&session, "hello");
    assert_eq!((&turn["state"], &turn["stop_reason"]), (&json!("completed"), &json!("end_turn")), "{turn}");
    let processes = lab.processes("mine");
    let id = processes[0]["process_id"].as_str().unwrap();
    let lines = lab.get(&format!("/agents/processes/{id}/logs"))["lines"].clone();
    let told: Vec<_> =
        lines.as_array().unwrap().iter().map(|line| (&line["stream"], &line["text"])).collect();
    assert_eq!(told, [(&json!("stdout_noise"), &json!(unread.to_string()))]);
}

/// Starts a probe that waits for an agent that never answers, and yields its process.
fn stuck(lab: &Lab, script: &str) -> (std::thread::JoinHandle<()>, Value) {
    lab.post("/agents/catalog", json!({"id": "stuck", "command": "sh", "args": ["-c", script]}));
    let port = lab.server.port;
    let probe = std::thread::spawn(move || {
        let body = r#"{"timeout_seconds": 60}"#;
        crate::client::Client::new(port).ask("POST", "/agents/catalog/stuck/probe", None, Some(body));
    });
    let process = until("the process is there", || lab.processes("stuck").first().cloned());
    (probe, process)
}

#[test]
fn an_agent_that_ignores_everything_is_stopped_with_all_beneath() {
    let lab = Lab::start();
    // Neither the closed input nor SIGTERM ends it, and two of its children have left: one its group, one its session.
    let nap = nap(1);
    let script = format!(
        "trap '' TERM; echo up >&2; sleep {nap} & setsid sleep {nap} & while :; do sleep {nap}; done"
    );
    let (probe, process) = stuck(&lab, &script);
    let id = process["process_id"].as_str().unwrap().to_owned();
    let pid = process["pid"].as_i64().unwrap();
    let seen = until("its children are there", || {
        lab.processes("stuck").first().filter(|process| process["children"] == 3).cloned()
    });
    assert_eq!((&seen["state"], &seen["in_flight"]), (&json!("starting"), &json!(1)));
    assert!(seen["rss_bytes"].as_u64().unwrap() > 0);
    let stopped = lab.delete(&format!("/agents/processes/{id}?grace_seconds=0.2"));
    assert_eq!(
        stopped,
        json!({"process_id": id, "killed_children": 3, "sessions_disconnected": [], "signal": 9})
    );
    assert!(!lives(pid));
    assert_eq!(beneath(&nap), Vec::<String>::new());
    probe.join().unwrap();
    assert_eq!(lab.get("/agents/processes?agent_id=stuck")["processes"][0]["state"], "dead");
}

#[test]
fn force_comes_at_once() {
    let lab = Lab::start();
    let (probe, process) = stuck(&lab, "trap '' TERM; while :; do sleep 1000.5; done");
    let id = process["process_id"].as_str().unwrap().to_owned();
    let begun = std::time::Instant::now();
    let stopped = lab.delete(&format!("/agents/processes/{id}?force=true&grace_seconds=30"));
    assert_eq!(stopped["signal"], 9);
    assert!(begun.elapsed().as_secs() < 29, "{:?}", begun.elapsed());
    probe.join().unwrap();
}

#[test]
fn a_launcher_that_dies_leaves_nothing_running() {
    let lab = Lab::start();
    let nap = nap(2);
    let script = format!("sleep {nap} & setsid sleep {nap} & exit 0");
    lab.post("/agents/catalog", json!({"id": "launcher", "command": "sh", "args": ["-c", script]}));
    let (status, body) = lab.ask("POST", "/agents/catalog/launcher/probe", Some(json!({})));
    assert_eq!((status, &body["exit_code"]), (503, &json!(0)));
    assert_eq!(beneath(&nap), Vec::<String>::new());
}

#[test]
fn a_server_that_stops_leaves_no_agent() {
    let lab = Lab::start();
    let nap = nap(3);
    let script = format!("trap '' TERM; setsid sleep {nap} & while :; do sleep {nap}; done");
    let (probe, process) = stuck(&lab, &script);
    let pid = process["pid"].as_i64().unwrap();
    lab.server.stop();
    assert!(!lives(pid));
    assert_eq!(beneath(&nap), Vec::<String>::new());
    // Its connection was cut.
    let _ = probe.join();
}

#[test]
fn as_many_probes_run_as_the_policy_says() {
    let lab = Lab::start();
    lab.post("/agents/catalog", json!({"id": "stuck", "command": "sleep", "args": ["1003.5"]}));
    let policy_slots = 4;
    let port = lab.server.port;
    let probes: Vec<_> = (0..policy_slots + 2)
        .map(|_| {
            std::thread::spawn(move || {
                let body = r#"{"timeout_seconds": 8}"#;
                let answer = crate::client::Client::new(port).ask(
                    "POST",
                    "/agents/catalog/stuck/probe",
                    None,
                    Some(body),
                );
                answer.status
            })
        })
        .collect();
    let mut statuses: Vec<u16> = probes.into_iter().map(|probe| probe.join().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [429, 429, 504, 504, 504, 504]);
}

/// How long a child sleeps: a number that no other run of these tests has.
fn nap(test: u32) -> String {
    format!("100{test}.{}", std::process::id())
}

/// Commands of living processes that sleep so long.
fn beneath(nap: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        if command.starts_with("sleep") && command.contains(nap) {
            found.push(command);
        }
    }
    found
}
