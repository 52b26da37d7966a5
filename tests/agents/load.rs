//! Many agents at once, and agents that say more than anybody reads. The figures are those of `benches/agents`.

use crate::follow::Event;
use crate::lab::{Lab, PATIENCE};
use serde_json::json;
use std::time::{Duration, Instant};

/// Agents at once: as many as there may be.
const AGENTS: usize = 16;
/// Chunks of each.
const CHUNKS: usize = 300;

fn prompt(lab: &Lab, session: &str, text: &str) -> String {
    let started = lab.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": text}));
    started["turn"]["turn_id"].as_str().unwrap().to_owned()
}

/// What the server holds, in bytes.
fn memory(lab: &Lab) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", lab.server.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: u64 = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default();
    kib * 1024
}

fn said(events: &[Event]) -> String {
    let chunks = events.iter().filter(|event| event.kind == "message.chunk");
    let of_agent = chunks.filter(|event| event.data["data"]["role"] == "agent");
    of_agent.map(|event| event.data["data"]["content"]["text"].as_str().unwrap()).collect()
}

#[test]
fn sixteen_agents_at_once_are_heard_to_the_end() {
    let lab = Lab::under("defaults: {limits: {rate_per_minute: 100000, max_concurrency: 64}}");
    lab.register("mine", &[]);
    let sessions: Vec<String> = (0..AGENTS).map(|_| lab.session("mine")).collect();
    let more = json!({"agent_id": "mine", "cwd": lab.base()});
    assert_eq!(lab.refused("POST", "/agents/sessions", Some(more)), "429 too_many_processes");
    let readers: Vec<_> = sessions
        .iter()
        .map(|session| lab.follow(&format!("/agents/sessions/{session}/events/stream")))
        .collect();
    for session in &sessions {
        prompt(&lab, session, &format!("flood {CHUNKS}"));
    }
    let all: String = (0..CHUNKS).map(|n| format!("{n} ")).collect();
    let reading: Vec<_> = readers
        .into_iter()
        .map(|mut reader| std::thread::spawn(move || reader.until("turn.completed")))
        .collect();
    for (session, reading) in sessions.iter().zip(reading) {
        let events = reading.join().unwrap();
        let numbers: Vec<u64> = events.iter().filter_map(|event| event.id).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
        assert!(events.iter().all(|event| event.data["session_id"] == session.as_str()));
        assert_eq!(said(&events), all);
    }
    assert_eq!(lab.processes("mine").len(), AGENTS);
}

/// The most memory that is held until the turn has ended, beyond what is held before the prompt.
fn growth(lab: &Lab, session: &str, text: &str) -> u64 {
    let idle = memory(lab);
    let turn = prompt(lab, session, text);
    let (mut most, mut heard, mut end) = (0, 0, Instant::now() + PATIENCE);
    loop {
        most = most.max(memory(lab));
        // A session is idle still when its turn is taken in, and the turn itself would be shown with its text.
        let listed = lab.get(&format!("/agents/sessions/{session}/turns"))["turns"].clone();
        let shown =
            listed.as_array().unwrap().iter().find(|shown| shown["turn_id"] == turn.as_str()).unwrap();
        match shown["state"].as_str().unwrap() {
            "queued" | "running" => {}
            state => {
                assert_eq!(state, "completed", "{shown}");
                return most.saturating_sub(idle);
            }
        }
        // It takes as long as it takes, while more and more comes.
        let last = lab.last(session);
        if last != heard {
            (heard, end) = (last, Instant::now() + PATIENCE);
        }
        assert!(Instant::now() < end, "nothing more comes behind {last}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn memory_does_not_grow_with_what_an_agent_says() {
    const BOUND: u64 = 48 << 20;
    let lab = Lab::under("defaults: {limits: {rate_per_minute: 100000, max_concurrency: 64}}");
    lab.register("mine", &[]);
    let session = lab.session("mine");
    // What is held once, however much is said, is held from here on.
    growth(&lab, &session, "flood 3000 2000");
    // Neither who reads nothing nor what nobody has read yet is held for.
    let _deaf = lab.follow(&format!("/agents/sessions/{session}/events/stream"));
    for (what, prompt) in [("small chunks", "flood 6000 16000"), ("large ones", "flood 50 2000000")] {
        let grown = growth(&lab, &session, prompt);
        assert!(grown < BOUND, "100 MB in {what}: {} MiB more", grown >> 20);
    }
}
