//! What an agent prints that is no message: its sessions are told of it, and a flood of it costs them little.

use crate::lab::Lab;
use crate::log;
use serde_json::{Value, json};
use std::time::Instant;

/// What was told of it, without the process.
fn told(lab: &Lab, session: &str) -> Vec<Value> {
    let events = log::read(lab, session, &["process.noise"]);
    let data = |event: &Value| {
        let mut data = event["data"].clone();
        assert!(data["process_id"].as_str().unwrap().starts_with("prc_"));
        data.as_object_mut().unwrap().remove("process_id");
        data
    };
    events.iter().map(data).collect()
}

fn line(text: &str) -> Value {
    json!({"text": text, "lines": 1, "bytes": text.len(), "truncated": false})
}

#[test]
fn every_session_of_a_process_is_told_and_the_first_what_came_before_it() {
    let lab = Lab::start();
    lab.register_with("mine", &["--noise"], json!({"share_process": true}));
    let first = lab.session("mine");
    let second = lab.session("mine");
    let begun = [line("welcome to the scripted agent"), line("{\"not\": \"a message\"}")];
    assert_eq!((told(&lab, &first), told(&lab, &second)), (begun.to_vec(), Vec::new()));
    let turn = lab.turn(&second, "print something");
    let something = line("something");
    assert_eq!(told(&lab, &first), [&begun[..], std::slice::from_ref(&something)].concat());
    assert_eq!(told(&lab, &second), [something]);
    // Of the turn that ran, where one did; and before the end of it.
    let kinds = ["process.", "turn.completed"];
    let told = |session: &str| -> Vec<(Value, Value)> {
        let events = log::read(&lab, session, &kinds);
        events.iter().map(|event| (event["kind"].clone(), event["turn_id"].clone())).collect()
    };
    let (started, noise) = (json!("process.started"), json!("process.noise"));
    let id = turn["turn_id"].clone();
    assert_eq!(
        told(&second),
        [(started.clone(), Value::Null), (noise.clone(), id.clone()), (json!("turn.completed"), id)]
    );
    let none = |kind: &Value| (kind.clone(), Value::Null);
    assert_eq!(told(&first), [none(&noise), none(&noise), none(&started), none(&noise)]);
}

#[test]
fn a_flood_of_noise_is_told_in_sums_and_every_line_counted() {
    const LINES: u64 = 20_000;
    const BYTES: u64 = 2000;
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let begun = Instant::now();
    // What was printed is in the pipe when it ends: nothing of it is lost.
    let turn = lab.turn(&session, &format!("babble {LINES} {BYTES}\ncrash 3"));
    assert_eq!(turn["state"], "interrupted", "{turn}");
    let told = told(&lab, &session);
    let sum = |member: &str| told.iter().map(|data| data[member].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("lines"), sum("bytes")), (LINES, LINES * BYTES));
    for (n, data) in told.iter().take(16).enumerate() {
        let text = format!("{n:-<1024}");
        assert_eq!(*data, json!({"text": text, "lines": 1, "bytes": BYTES, "truncated": true}));
    }
    // One more every ten seconds, and the rest at the end.
    let most = 16 + begun.elapsed().as_secs() / 10 + 1;
    assert!(told.len() > 16 && told.len() as u64 <= most, "{} were told", told.len());
    assert!(told.iter().all(|data| data["text"].as_str().unwrap().len() == 1024));
    // The end comes behind all of it.
    let last = log::read(&lab, &session, &["process"]).pop().unwrap();
    assert_eq!(last["kind"], "process.exited");
}

#[test]
fn secrets_are_taken_out_of_noise() {
    let lab = Lab::start();
    let canary = "canary-9b1c-value";
    lab.post("/agents/credentials", json!({"name": "KEY", "value": canary, "agents": ["mine"]}));
    lab.register_with("mine", &[], json!({"credentials": ["KEY"]}));
    let session = lab.session("mine");
    lab.turn(&session, &format!("print my key is {canary}"));
    // It has its bytes still, and is shown whole.
    let bytes = "my key is ".len() + canary.len();
    let masked = json!({"text": "my key is ***", "lines": 1, "bytes": bytes, "truncated": false});
    assert_eq!(told(&lab, &session), [masked]);
}
