//! The agents group under load: the real server, real agent processes, readers over sockets. `cargo bench -p runtime
//! --bench agents`, or `-- NAME…` for some of them.
//!
//! Every round is one session: a prompt makes the scripted agent write chunks as fast as it can, and the round is over when
//! the last reader has the event that ends the turn. What a reader sees is on disk already, so the figures are of chunks
//! that are on disk and with all who read. Readers do nothing but count numbers, and stop where one is missing.
//!
//! Run it on a quiet machine: agent, server and readers share its cores.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a bench that meets something odd should stop, and says what it has measured"
)]
#![allow(dead_code, clippy::allow_attributes, reason = "the support serves the tests too")]

#[path = "../../../tests/http/client.rs"]
mod client;
#[path = "../../../tests/agents/follow.rs"]
mod follow;
#[path = "../../../tests/agents/lab.rs"]
mod lab;
#[path = "../../../tests/http/raw.rs"]
mod raw;
#[path = "../../../tests/http/server.rs"]
mod server;

mod memory;
mod tap;

use lab::Lab;
use memory::Samples;
use serde_json::{Value, json};
use server::Setup;
use std::time::{Duration, Instant};
use tap::Tap;

/// Chunks of one flood, and how often it is repeated.
const CHUNKS: u64 = 100_000;
const ROUNDS: usize = 5;
/// Who reads meanwhile.
const READERS: usize = 4;
/// Agents at once, and chunks of each.
const AGENTS: usize = 16;
const OF_EACH: u64 = 5_000;
/// Chunks of a log that is as long as one is kept; a few events more are about its turn.
const LONG: u64 = 199_900;
/// Items that are searched, in sessions of half of them.
const ITEMS: u64 = 100_000;
/// Chunks of the flood over which memory is looked at.
const ENDLESS: u64 = 1_000_000;

/// A measurement: its name, its goal in words, and what it prints.
type Bench = (&'static str, &'static str, fn(&Lab));

const BENCHES: [Bench; 5] = [
    ("flood", "10,000 chunks a second to disk and to four readers", flood),
    ("sixteen", "16 agents at once", sixteen),
    ("replay", "200,000 events in less than 5 s", replay),
    ("search", "100,000 items in less than 100 ms", search),
    ("memory", "flat while an agent floods", endless),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, goal, run) in BENCHES {
        if !asked.is_empty() && !asked.iter().any(|asked| name.contains(asked.as_str())) {
            continue;
        }
        println!("{name}: {goal}");
        // A fresh server, so that what is measured is of this one alone.
        let policy =
            json!({"defaults": {"limits": {"rate_per_minute": 100_000_000, "max_concurrency": 1000}}});
        let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(&policy.to_string());
        let lab = Lab::with(setup);
        lab.register("scripted", &[]);
        run(&lab);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prompts a session; its id as readers know it is in the path.
fn prompt(lab: &Lab, session: &str, text: &str) {
    lab.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": text}));
}

fn tap(lab: &Lab, session: &str) -> Tap {
    Tap::open(lab.server.port, &format!("/agents/sessions/{session}/events/stream"))
}

fn close(lab: &Lab, session: &str) {
    lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
}

fn flood(lab: &Lab) {
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let session = lab.session("scripted");
        let readers: Vec<Tap> = (0..READERS).map(|_| tap(lab, &session)).collect();
        let begun = Instant::now();
        prompt(lab, &session, &format!("flood {CHUNKS}"));
        for reader in readers {
            assert!(reader.wait() > CHUNKS);
        }
        let rate = CHUNKS as f64 / begun.elapsed().as_secs_f64();
        println!("  {rate:.0} chunks/s");
        rates.push(rate);
        close(lab, &session);
    }
    println!("  median {:.0} chunks/s", median(rates));
}

fn sixteen(lab: &Lab) {
    let sessions: Vec<String> = (0..AGENTS).map(|_| lab.session("scripted")).collect();
    let idle = memory::now(lab);
    let readers: Vec<Tap> = sessions.iter().map(|session| tap(lab, session)).collect();
    let samples = Samples::of(lab);
    let begun = Instant::now();
    for session in &sessions {
        prompt(lab, session, &format!("flood {OF_EACH}"));
    }
    for reader in readers {
        assert!(reader.wait() > OF_EACH);
    }
    let took = begun.elapsed().as_secs_f64();
    let all = AGENTS as u64 * OF_EACH;
    println!("  {all} chunks of {AGENTS} agents in {took:.2} s: {:.0} chunks/s", all as f64 / took);
    println!("  {}", samples.end(idle));
}

fn replay(lab: &Lab) {
    let session = lab.session("scripted");
    let reader = tap(lab, &session);
    prompt(lab, &session, &format!("flood {LONG}"));
    let events = reader.wait();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        assert_eq!(tap(lab, &session).wait(), events);
        times.push(begun.elapsed().as_secs_f64());
    }
    println!("  {events} events as a stream: median {:.2} s", median(times));
    let begun = Instant::now();
    let mut after = 0;
    while after < events {
        let page =
            lab.get(&format!("/agents/sessions/{session}/events?after={after}&limit=1000"))["events"].clone();
        after = page.as_array().unwrap().last().unwrap()["seq"].as_u64().unwrap();
    }
    println!("  {events} events in pages of 1,000: {:.2} s", begun.elapsed().as_secs_f64());
}

fn search(lab: &Lab) {
    let sessions = [lab.session("scripted"), lab.session("scripted")];
    for session in &sessions {
        let reader = tap(lab, session);
        prompt(lab, session, &format!("messages {}", ITEMS / 2));
        assert!(reader.wait() > ITEMS / 2);
    }
    let one = json!({"session_id": sessions[0]});
    let words: [(&str, Value); 8] = [
        ("parser", json!({})),
        ("common", json!({})),
        ("\"word 7777 of\"", json!({})),
        ("common -parser", json!({})),
        ("comm* sent*", json!({})),
        ("common", one.clone()),
        ("parser", one),
        ("common", json!({"kinds": ["agent_message"], "agent_id": "scripted"})),
    ];
    for (query, more) in words {
        let mut body = json!({"query": query, "limit": 20});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..20 {
            let begun = Instant::now();
            let found = lab.post("/agents/search", body.clone());
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            hits = found["hits"].as_array().unwrap().len();
            assert!(hits > 0);
        }
        println!("  {query} {more}: {hits} hits, median {:.1} ms", median(times));
    }
}

fn endless(lab: &Lab) {
    let session = lab.session("scripted");
    // What is held once, however long the flood, is held from here on.
    let reader = tap(lab, &session);
    prompt(lab, &session, &format!("flood {}", CHUNKS / 2));
    reader.wait();
    std::thread::sleep(Duration::from_secs(1));
    let idle = memory::now(lab);
    let reader = Tap::open(
        lab.server.port,
        &format!("/agents/sessions/{session}/events/stream?after={}", lab.last(&session)),
    );
    let samples = Samples::of(lab);
    let begun = Instant::now();
    prompt(lab, &session, &format!("flood {ENDLESS}"));
    reader.wait();
    let took = begun.elapsed().as_secs_f64();
    println!("  {ENDLESS} chunks in {took:.1} s: {:.0} chunks/s", ENDLESS as f64 / took);
    println!("  {}", samples.end(idle));
}
