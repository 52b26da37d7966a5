//! A background process over the wire: input and output by byte offsets, waiting, events.

use crate::raw::{get, post};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};

fn start(server: &Server, body: &Value) -> String {
    let answer = post(server.port, "/process/start", &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.json());
    format!("/process/{}", answer.json()["pid"])
}

fn ask(server: &Server, target: &str, body: &Value) -> (u16, Value) {
    let answer = post(server.port, target, &body.to_string());
    (answer.status, answer.json())
}

/// What is kept of a process that has ended, from these offsets.
fn output(server: &Server, process: &str, query: &str) -> (u16, Value) {
    let answer = get(server.port, &format!("{process}/output{query}"));
    (answer.status, answer.json())
}

// runtime 17, 30
#[test]
fn row_30_input_is_written_once_however_often_it_is_sent_and_closed_on_request() {
    let server = Setup::new().start();
    let process = start(&server, &json!({"command": "cat", "stdin": true}));
    let pid: i64 = process.trim_start_matches("/process/").parse().unwrap();
    let input = format!("{process}/input");
    let taken = |offset: u64, closed: bool| (200, json!({"pid": pid, "offset": offset, "closed": closed}));
    assert_eq!(ask(&server, &input, &json!({"data": "one\n", "offset": 0})), taken(4, false));
    assert_eq!(ask(&server, &input, &json!({"data": "one\n", "offset": 0})), taken(4, false), "sent again");
    assert_eq!(
        ask(&server, &input, &json!({"data": "one\ntwo\n", "offset": 0})),
        taken(8, false),
        "overlapping"
    );
    assert_eq!(ask(&server, &input, &json!({"data_base64": "/wA="})), taken(10, false));
    let (status, gap) = ask(&server, &input, &json!({"data": "x", "offset": 11}));
    assert_eq!((status, &gap["code"], &gap["offset"]), (409, &json!("conflict"), &json!(10)));
    for (body, parameter) in [
        (json!({"data": "x", "data_base64": "eA=="}), "data_base64"),
        (json!({"data_base64": "?"}), "data_base64"),
        (json!({"data": 7}), "data"),
        (json!({"data": "x", "offset": -1}), "offset"),
        (json!({"data": "x", "close": "yes"}), "close"),
    ] {
        let (status, refused) = ask(&server, &input, &body);
        assert_eq!(
            (status, &refused["code"], &refused["parameter"]),
            (400, &json!("invalid_parameter"), &json!(parameter))
        );
    }
    assert_eq!(ask(&server, &input, &json!({})).1["code"], "missing_parameter");
    assert_eq!(ask(&server, &input, &json!({"close": true})), taken(10, true));
    assert_eq!(ask(&server, &input, &json!({"data": "x"})).1["code"], "conflict");
    assert_eq!(get(server.port, &format!("{process}?wait=60")).json()["exit_code"], 0);
    // security 140: the text is lossy, base64 is not.
    let whole = json!({
        "stdout": "one\ntwo\n\u{fffd}\0", "stderr": "", "stdout_base64": "b25lCnR3bwr/AA==", "stderr_base64": "",
        "stdout_offset": 0, "stderr_offset": 0, "next_stdout_offset": 10, "next_stderr_offset": 0, "exited": true,
    });
    assert_eq!(output(&server, &process, ""), (200, whole));
    let rest = output(&server, &process, "?stdout_offset=8").1;
    assert_eq!((&rest["stdout_base64"], &rest["next_stdout_offset"]), (&json!("/wA="), &json!(10)));
    let none = start(&server, &json!({"command": "sleep 60"}));
    assert_eq!(
        ask(&server, &format!("{none}/input"), &json!({"data": "x"})).1["code"],
        "conflict",
        "its input is at its end"
    );
}

#[test]
fn output_is_kept_by_offsets_and_followed_to_its_end() {
    let policy = json!({"endpoints": {"process_start": {"limits": {"max_output_bytes": "10B"}}}});
    let server = Setup::new().policy(&policy.to_string()).start();
    let process =
        start(&server, &json!({"command": "sh -c 'printf 0123456789abcdef; printf e >&2; exit 3'"}));
    assert_eq!(get(server.port, &format!("{process}?wait=60")).json()["exit_code"], 3);
    let kept = output(&server, &process, "").1;
    assert_eq!(
        (&kept["stdout"], &kept["stdout_offset"], &kept["next_stdout_offset"]),
        (&json!("6789abcdef"), &json!(6), &json!(16))
    );
    assert_eq!(output(&server, &process, "?stdout_offset=16").1["stdout"], "");
    let (status, past) = output(&server, &process, "?stdout_offset=17");
    assert_eq!(
        (status, &past["code"], &past["parameter"]),
        (409, &json!("conflict"), &json!("stdout_offset"))
    );
    for query in ["?stdout_offset=-1", "?stderr_offset=x", "?follow=maybe", "?format=xml"] {
        assert_eq!(output(&server, &process, query).0, 400, "{query}");
    }
    let text =
        |query: &str| String::from_utf8(get(server.port, &format!("{process}/output{query}")).body).unwrap();
    let lines = text("?follow=true&stdout_offset=6");
    assert!(lines.contains("event: stdout\ndata: {\"data\":\"6789abcdef\",\"offset\":6}\n\n"), "{lines}");
    assert!(lines.contains("event: stderr\ndata: {\"data\":\"e\",\"offset\":0}\n\n"), "{lines}");
    assert!(lines.ends_with("event: exit\ndata: {\"exit_code\":3}\n\n"), "{lines}");
    let bytes = text("?follow=true&format=bytes&stdout_offset=14");
    assert!(bytes.contains("event: stdout\ndata: {\"data\":\"ZWY=\",\"offset\":14}\n\n"), "{bytes}");
    let end = bytes.split_once("event: stream_end\ndata: ").and_then(|(_, rest)| rest.lines().next());
    let end: Value = serde_json::from_str(end.unwrap_or_else(|| panic!("{bytes}"))).unwrap();
    assert_eq!(end, json!({"stream": "stdout", "offset": 16}));
}

// runtime 23
#[test]
fn row_23_what_a_call_leaves_behind_is_listed_kept_and_ended_on_request() {
    let server = Setup::new().start();
    let left = json!({"command": "sh -c 'sleep 600 & echo $!'"});
    let pid: i64 = post(server.port, "/shell", &left.to_string()).json()["stdout"]
        .as_str()
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let listed = || get(server.port, "/process/list").json()["processes"].as_array().unwrap().clone();
    let orphan = listed().into_iter().find(|process| process["pid"] == pid).unwrap();
    assert_eq!((&orphan["state"], &orphan["exit_code"]), (&json!("orphan"), &Value::Null));
    let (status, _) = ask(&server, &format!("/process/{pid}/signal"), &json!({"signal": "SIGTERM"}));
    assert_eq!(status, 200);
    let begun = std::time::Instant::now();
    while listed().iter().any(|process| process["pid"] == pid) {
        assert!(begun.elapsed() < PATIENCE, "it is still listed");
    }
}
