//! Secrets that an agent says in pieces: no piece of the log holds the rest of one, and nothing else is lost.

use crate::lab::{Lab, until};
use crate::log;
use serde_json::{Value, json};

const SECRET: &str = "canary-7f3a-value";

fn lab() -> Lab {
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "KEY", "value": SECRET, "agents": ["mine"]}));
    lab.register_with("mine", &[], json!({"client_terminal": true}));
    lab
}

/// What a session says anywhere, as one text.
fn everything(lab: &Lab, session: &str) -> String {
    let paths = ["", "/events?raw=true&limit=1000", "/items", "/turns", "/export?format=json&redact=false"];
    paths.map(|path| lab.get(&format!("/agents/sessions/{session}{path}")).to_string()).concat()
}

/// The texts of the agent's pieces, as they are in the log.
fn pieces(lab: &Lab, session: &str) -> Vec<String> {
    let events = lab.get(&format!("/agents/sessions/{session}/events?kinds=message.chunk&limit=1000"));
    let events = events["events"].as_array().unwrap().clone();
    let said = events.iter().filter(|event| event["data"]["role"] == "agent");
    said.map(|event| event["data"]["content"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_that_is_said_over_pieces_does_not_get_out() {
    let lab = lab();
    let session = lab.session("mine");
    // Nobody else cuts it: each line is said as a piece of its own.
    let turn = lab.turn(&session, "echo it is canary-7f\necho 3a-value, as you see\necho the last can");
    assert_eq!(turn["text"], "it is ***, as you seethe last can");
    assert_eq!(pieces(&lab, &session), ["it is ", "***, as you see", "the last ", "can"]);
    assert!(!everything(&lab, &session).contains(SECRET));
    let found = |query: &str| {
        let hits = lab.post("/agents/search", json!({"query": query, "kinds": ["agent_message"]}));
        hits["hits"].as_array().unwrap().len()
    };
    assert_eq!((found("canary"), found("value"), found("last")), (0, 0, 1));
    let events = lab.get(&format!("/agents/sessions/{session}/events?limit=1000"));
    let numbers: Vec<&Value> =
        events["events"].as_array().unwrap().iter().map(|event| &event["seq"]).collect();
    assert_eq!(json!(numbers), json!((1..=numbers.len()).collect::<Vec<_>>()));
}

#[test]
fn what_ends_a_message_comes_behind_its_last_piece() {
    let lab = lab();
    let session = lab.session("mine");
    lab.turn(&session, "echo yes, I can\nopen_tool\necho so I can\nplan 1 2\necho if you can\npermission ls");
    let request = lab.get("/agents/requests")["requests"][0]["request_id"].clone();
    lab.post(
        &format!("/agents/requests/{}/decision", request.as_str().unwrap()),
        json!({"decision": "allow"}),
    );
    until("it is idle", || {
        (lab.get(&format!("/agents/sessions/{session}"))["session"]["state"] == "idle").then_some(())
    });
    let kinds = ["message.chunk", "tool_call.created", "plan.updated", "permission.requested"].join(",");
    let events = lab.get(&format!("/agents/sessions/{session}/events?kinds={kinds}&limit=1000"));
    let short = |event: &Value| match event["data"]["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => event["kind"].as_str().unwrap().to_owned(),
    };
    let all = events["events"].as_array().unwrap();
    let told: Vec<String> = all.iter().filter(|event| event["data"]["role"] != "user").map(short).collect();
    assert_eq!(
        told,
        [
            "yes, I ",
            "can",
            "tool_call.created",
            "so I ",
            "can",
            "plan.updated",
            "if you ",
            "can",
            "tool_call.created",
            "permission.requested",
            "allowed by allow-once"
        ]
    );
}

#[test]
fn the_end_of_a_message_whose_agent_dies_is_kept() {
    let lab = lab();
    let session = lab.session("mine");
    let turn = lab.turn(&session, "echo no more than can\ncrash 3");
    assert_eq!((&turn["state"], &turn["text"]), (&json!("interrupted"), &json!("no more than can")));
}

#[test]
fn a_terminal_that_prints_one_slowly_does_not_print_it() {
    let lab = lab();
    let session = lab.session("mine");
    let script = lab.server.base().join("slow.sh");
    // Waits until the first part has been read.
    let (first, go) = ("printf 'a canary-7f'", lab.server.base().join("go"));
    let text =
        format!("{first}\nwhile [ ! -e {} ]; do sleep 0.02; done\nprintf '3a-value b'\n", go.display());
    std::fs::write(&script, text).unwrap();
    let turns = format!("/agents/sessions/{session}/turns");
    let prompt = json!({"prompt": format!("terminal sh {}", script.display())});
    let turn = lab.post(&turns, prompt)["turn"]["turn_id"].as_str().unwrap().to_owned();
    let state = lab.server.dir.path();
    until("the beginning is told", || {
        (log::at(state, &session, &["terminal.output"]).first()?["data"]["data"] == "a ").then_some(())
    });
    std::fs::write(go, "").unwrap();
    let ended = lab.get(&format!("{turns}/{turn}?wait_ms=60000"));
    assert_eq!(ended["turn"]["state"], "completed", "{ended}");
    let printed = until("the end is told", || {
        let events = log::at(state, &session, &["terminal.output", "terminal.exited"]);
        let over = events.iter().any(|event| event["kind"] == "terminal.exited");
        over.then(|| {
            events
                .iter()
                .filter_map(|event| event["data"]["data"].as_str().map(str::to_owned))
                .collect::<String>()
        })
    });
    assert_eq!(printed, "a *** b");
}
