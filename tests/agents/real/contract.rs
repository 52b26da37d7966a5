//! What every agent is held to, step by step. Each step says what it found in lines of text; what must be the same for all is
//! asserted here.

use super::bench::Bench;
use super::model::BEGUN;
use super::table::KEY;
use crate::follow::Event;
use crate::lab::until;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Instant;

/// What was found so far, and since when.
struct Found(String, Instant);

impl Found {
    fn step(&mut self, name: &str) {
        println!("  {:5.1} s  {name}", self.1.elapsed().as_secs_f64());
        let gap = if self.0.is_empty() { "" } else { "\n" };
        writeln!(self.0, "{gap}{name}").unwrap();
    }

    fn say(&mut self, what: &str, value: &Value) {
        let text = value.as_str().map_or_else(|| value.to_string(), |text| text.replace('\n', "\\n"));
        writeln!(self.0, "  {what}: {text}").unwrap();
    }
}

/// Runs every step that the agent can do.
pub fn run(bench: &mut Bench) -> String {
    let mut found = Found(String::new(), Instant::now());
    for (step, why) in bench.row.cannot {
        found.say(&format!("cannot {step}"), &json!(why));
    }
    hands(bench, &mut found);
    let session = opened(bench, &mut found);
    allowed(bench, &session, &mut found);
    rejected(bench, &session, &mut found);
    cancelled_in_a_request(bench, &session, &mut found);
    cancelled_while_it_speaks(bench, &session, &mut found);
    if bench.row.can("mode") {
        mode(bench, &session, &mut found);
    }
    forked(bench, &session, &mut found);
    resumed(bench, &session, &mut found);
    ended(bench, &session, &mut found);
    found.0
}

/// The handshake, and what the agent says of itself.
fn hands(bench: &Bench, found: &mut Found) {
    let cwd = bench.cwd.display().to_string();
    let path = format!("/agents/catalog/{}/probe", bench.id);
    let body = json!({"session": true, "cwd": cwd, "timeout_seconds": 60});
    let (status, probe) = bench.lab.ask("POST", &path, Some(body));
    assert_eq!((status, &probe["session_ok"]), (200, &json!(true)), "{probe}");
    found.step("handshake");
    let can = &probe["agent_capabilities"];
    let names = |value: &Value| {
        let mut names: Vec<String> =
            value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        names.sort();
        json!(names)
    };
    found.say("name", &probe["agent_info"]["name"]);
    found.say("version", &probe["agent_info"]["version"]);
    found.say("loads", &can["loadSession"]);
    found.say("sessions", &names(&can["sessionCapabilities"]));
    found.say("mcp", &can["mcpCapabilities"]);
    let methods = probe["auth_methods"].as_array().into_iter().flatten().map(|method| method["id"].clone());
    found.say("signs in by", &methods.collect());
}

fn opened(bench: &Bench, found: &mut Found) -> String {
    found.step("session");
    let session = bench.open();
    let shown = bench.lab.get(&format!("/agents/sessions/{session}"))["session"].clone();
    assert_eq!((&shown["state"], &shown["pending_requests"]), (&json!("idle"), &json!([])), "{shown}");
    assert_eq!(shown["cwd"], bench.cwd.display().to_string());
    found.say("resumable", &shown["resumable"]);
    found.say("steerable", &shown["steerable"]);
    session
}

/// Nothing is told twice or out of order, and the turn begins and ends as turns do.
fn in_order(events: &[Event]) {
    assert_eq!(events.first().unwrap().kind, "turn.queued");
    assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id), "{events:#?}");
    let turn = &events.first().unwrap().data["turn_id"];
    assert!(events.iter().all(|event| event.data["turn_id"] == *turn), "{events:#?}");
}

/// Prompts for an edit and yields the request that it waits for.
fn asked(
    bench: &Bench,
    session: &str,
    name: &str,
    text: &str,
) -> (crate::follow::Follower, Vec<Event>, Value) {
    let mut stream = bench.follow(session, &bench.write(name, text));
    let events = stream.until("permission.requested");
    let request = bench.pending(session);
    assert_eq!(events.last().unwrap().data["data"]["request_id"], request["request_id"]);
    assert!(!bench.file(name).exists(), "nothing is written before it is allowed");
    (stream, events, request)
}

/// How a turn ended, and why.
fn came_to(turn: &Value) -> Value {
    let word = |name: &str| turn[name].as_str().unwrap_or("nothing").to_owned();
    format!("{}, {}", word("state"), word("stop_reason")).into()
}

fn ending(turn: &Value, found: &mut Found) {
    found.say("turn", &came_to(turn));
    found.say("calls", &turn["tool_calls"]);
    found.say("text", &turn["text"]);
}

/// Prompt, request, decision, edit, diff, end, usage.
fn allowed(bench: &Bench, session: &str, found: &mut Found) {
    found.step("an edit that is allowed");
    let (mut stream, mut events, request) = asked(bench, session, "made.txt", "made by the model");
    found.say("asks for", &request["tool_kind"]);
    let kinds = request["options"].as_array().unwrap().iter().map(|option| option["kind"].clone());
    found.say("offers", &kinds.collect());
    let diffs = request["diffs"].as_array().cloned().unwrap_or_default();
    found.say("shows", &diffs.iter().map(|diff| diff["new_text"].clone()).collect());
    let decided = bench.decide(&request, "allow");
    assert_eq!((&decided["delivered"], &decided["request"]["state"]), (&json!(true), &json!("answered")));
    events.extend(stream.all());
    in_order(&events);
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds.last(), Some(&"turn.completed"), "{events:#?}");
    assert!(kinds.contains(&"permission.resolved") && kinds.contains(&"message.chunk"), "{kinds:?}");
    let turn = bench.shown(session, &events);
    ending(&turn, found);
    let path = format!("/agents/sessions/{session}");
    let diff = bench.lab.get(&format!("{path}/diff"));
    let changes = bench.lab.get(&format!("{path}/changes"));
    if bench.row.can("write") {
        assert_eq!(std::fs::read_to_string(bench.file("made.txt")).unwrap().trim(), "made by the model");
        assert_eq!(turn["changes"], json!({"added": ["made.txt"], "modified": [], "deleted": []}));
        assert_eq!(diff["stats"], json!({"files_changed": 1, "insertions": 1, "deletions": 0}));
        assert!(diff["diff"].as_str().unwrap().contains("\n+made by the model\n"), "{diff}");
        assert_eq!(changes["files"][0]["status"], "added", "{changes}");
    } else {
        assert_eq!((&diff["diff"], &changes["files"]), (&json!(""), &json!([])));
    }
    let usage = bench.lab.get(&format!("/agents/usage?session_id={session}"))["rows"][0].clone();
    found.say("usage", &usage["reported"]);
    found.say("costs", &usage["cost"]["currency"]);
    if bench.row.can("model") {
        secrets(bench, session);
    }
}

/// The key reached the model, and stands in nothing that callers see.
fn secrets(bench: &Bench, session: &str) {
    let seen = bench.talk();
    assert!(seen.iter().all(|seen| seen.headers.contains(KEY)), "{:?}", seen.last());
    for path in ["events?limit=1000&raw=true", "items", "turns"] {
        let shown = bench.lab.get(&format!("/agents/sessions/{session}/{path}"));
        assert!(!shown.to_string().contains(KEY), "{path}: {shown}");
    }
}

fn rejected(bench: &Bench, session: &str, found: &mut Found) {
    found.step("an edit that is rejected");
    let (mut stream, mut events, request) = asked(bench, session, "rejected.txt", "never");
    bench.decide(&request, "reject");
    events.extend(stream.all());
    in_order(&events);
    ending(&bench.shown(session, &events), found);
    assert!(!bench.file("rejected.txt").exists());
}

fn cancelled_in_a_request(bench: &Bench, session: &str, found: &mut Found) {
    found.step("a turn that is cancelled while it waits for a decision");
    let (mut stream, mut events, request) = asked(bench, session, "cancelled.txt", "never");
    let turn = request["turn_id"].as_str().unwrap();
    let path = format!("/agents/sessions/{session}/turns/{turn}/cancel");
    let done = bench.lab.post(&path, json!({"grace_seconds": 30}));
    events.extend(stream.all());
    in_order(&events);
    found.say("turn", &came_to(&done["turn"]));
    assert_eq!(
        (&done["forced"], &done["requests_cancelled"]),
        (&json!(false), &json!([request["request_id"]]))
    );
    assert!(!bench.file("cancelled.txt").exists());
}

fn cancelled_while_it_speaks(bench: &Bench, session: &str, found: &mut Found) {
    found.step("a turn that is cancelled while it speaks");
    let mut stream = bench.follow(session, "Take your time: [[wait]]");
    let mut events = stream.until("message.chunk");
    // The first chunk of some is the prompt.
    let turn = events.first().unwrap().data["turn_id"].as_str().unwrap().to_owned();
    let path = format!("/agents/sessions/{session}/turns/{turn}");
    until("it speaks", || {
        let said = bench.lab.get(&path)["turn"]["text"].clone();
        said.as_str().unwrap().contains(if bench.row.can("model") { BEGUN } else { "I'll" }).then_some(())
    });
    let word = json!({"prompt": "Mind the gap.", "fallback": "reject"});
    let (status, steered) = bench.lab.ask("POST", &format!("{path}/steer"), Some(word));
    let outcome = [&steered["outcome"], &steered["code"]].into_iter().find_map(Value::as_str);
    found.say("steered", &json!(format!("{status} {}", outcome.unwrap_or_default())));
    let done = bench.lab.post(&format!("{path}/cancel"), json!({"grace_seconds": 30}));
    events.extend(stream.all());
    in_order(&events);
    assert_eq!(done["forced"], false, "{done}");
    found.say("turn", &came_to(&done["turn"]));
    if bench.row.can("model") {
        let turn = bench.turn(session, "Say it: [[say all is well]]");
        says(&turn, "all is well");
    }
}

/// Some agents say a word of their own first.
fn says(turn: &Value, words: &str) {
    let text = turn["text"].as_str().unwrap();
    assert!(turn["state"] == "completed" && text.ends_with(words), "{turn}");
}

fn mode(bench: &Bench, session: &str, found: &mut Found) {
    found.step("modes");
    let path = format!("/agents/sessions/{session}/options");
    let of = |answer: &Value| {
        let options = answer["options"].as_array().unwrap().clone();
        options.into_iter().find(|option| option["category"] == "mode").unwrap_or_default()
    };
    let before = of(&bench.lab.get(&path));
    let values: Vec<Value> =
        before["choices"].as_array().into_iter().flatten().map(|choice| choice["value"].clone()).collect();
    found.say("choices", &json!(values));
    found.say("at first", &before["value"]);
    let other = values.iter().find(|value| **value != before["value"]).unwrap();
    let after = of(&bench.lab.post(&path, json!({"category": "mode", "value": other})));
    assert_eq!(after["value"], *other);
    let back = of(&bench.lab.post(&path, json!({"category": "mode", "value": before["value"]})));
    assert_eq!(back["value"], before["value"]);
}

/// Whether the model is told of the first turn when it is asked again.
fn remembers(bench: &Bench, session: &str) -> Value {
    let before = bench.talk().len();
    let turn = bench.turn(session, "Say it again: [[say I am back]]");
    says(&turn, "I am back");
    let since = bench.talk();
    since.get(before..).unwrap_or_default().iter().any(|seen| seen.body.contains("made by the model")).into()
}

fn forked(bench: &Bench, session: &str, found: &mut Found) {
    found.step("a branch");
    let forked = bench.lab.post(&format!("/agents/sessions/{session}/fork"), json!({"title": "another way"}));
    let fork = forked["session"]["session_id"].as_str().unwrap().to_owned();
    found.say("continuity", &forked["continuity"]);
    if bench.row.can("model") {
        found.say("remembers", &remembers(bench, &fork));
    }
    let gone = bench.lab.delete(&format!("/agents/sessions/{fork}?native=true"));
    found.say("deleted natively", &gone["native_deleted"]);
}

fn resumed(bench: &Bench, session: &str, found: &mut Found) {
    found.step("killed and resumed");
    bench.kill(session);
    let resumed = bench.lab.post(&format!("/agents/sessions/{session}/resume"), json!({}));
    assert_eq!(resumed["session"]["state"], "idle", "{resumed}");
    found.say("continuity", &resumed["continuity"]);
    if bench.row.can("model") {
        found.say("remembers", &remembers(bench, session));
    }
}

/// Its own list, the end, and that nothing is left.
fn ended(bench: &Bench, session: &str, found: &mut Found) {
    found.step("the end");
    let cwd = bench.cwd.display();
    let (status, listed) =
        bench.lab.ask("GET", &format!("/agents/catalog/{}/sessions?cwd={cwd}", bench.id), None);
    let known = listed["sessions"].as_array().into_iter().flatten().any(|one| one["known_as"] == *session);
    let code = listed["code"].as_str().map_or_else(|| format!("this one: {known}"), str::to_owned);
    found.say("its own list", &json!(format!("{status} {code}")));
    let closed = bench.lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
    assert_eq!(closed["session"]["state"], "closed");
    assert_eq!(bench.lab.processes(&bench.id), Vec::<Value>::new());
    bench.alone();
    let log = bench.lab.get(&format!("/agents/sessions/{session}/events?limit=1000"));
    let numbers: Vec<u64> =
        log["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
    bench.lab.delete(&format!("/agents/sessions/{session}"));
}
