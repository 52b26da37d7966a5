//! Long logs and large stores: events again from the first on, and words among very many.

use crate::table::{AtMost, Row};
use crate::{lab, prompt, session, tap};
use rustix::fs::{Advice, fadvise};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Chunks of a log that is as long as one is kept; a few events more are about its turn.
const LONG: u64 = 199_900;
/// Items that are searched, in sessions of half of them.
const ITEMS: u64 = 100_000;
/// How often each is repeated.
const REPLAYS: usize = 5;
const QUERIES: usize = 20;
const COLD: usize = 3;

pub fn replay(dir: &Path) -> Vec<Row> {
    let lab = lab(dir);
    let session = session(&lab, dir);
    let reader = tap(&lab, &session);
    prompt(&lab, &session, &format!("flood {LONG}"));
    let events = reader.wait();
    let streamed = (0..REPLAYS).map(|_| {
        let begun = Instant::now();
        assert_eq!(tap(&lab, &session).wait(), events);
        begun.elapsed().as_secs_f64()
    });
    let streamed = Row::new("200,000 events again, as a stream", "s", AtMost(5.0), streamed.collect());
    let paged = (0..REPLAYS).map(|_| {
        let (begun, mut after) = (Instant::now(), 0);
        while after < events {
            let path = format!("/agents/sessions/{session}/events?after={after}&limit=1000");
            let page = lab.get(&path)["events"].clone();
            after = page.as_array().unwrap().last().unwrap()["seq"].as_u64().unwrap();
        }
        begun.elapsed().as_secs_f64()
    });
    vec![streamed, Row::new("200,000 events again, in pages of 1,000", "s", AtMost(5.0), paged.collect())]
}

pub fn search(dir: &Path) -> Vec<Row> {
    let warm = lab(dir);
    let sessions = [session(&warm, dir), session(&warm, dir)];
    for session in &sessions {
        let reader = tap(&warm, session);
        prompt(&warm, session, &format!("messages {}", ITEMS / 2));
        assert!(reader.wait() > ITEMS / 2);
    }
    let one = json!({"session_id": sessions[0]});
    let narrow = json!({"kinds": ["agent_message"], "agent_id": "scripted"});
    let asked: [(&str, &str, Value); 8] = [
        ("a common word", "common", json!({})),
        ("a rare word", "parser", json!({})),
        ("a phrase", "\"word 7777 of\"", json!({})),
        ("a common word without a rare one", "common -parser", json!({})),
        ("beginnings of common words", "comm* sent*", json!({})),
        ("a common word in a session", "common", one.clone()),
        ("a rare word in a session", "parser", one),
        ("a common word of a kind and an agent", "common", narrow),
    ];
    let ask = |lab: &crate::Lab, query: &str, more: &Value| {
        let mut body = json!({"query": query, "limit": 20});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let begun = Instant::now();
        let found = lab.post("/agents/search", body);
        let took = begun.elapsed().as_secs_f64() * 1e3;
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{query}");
        took
    };
    let row = |what: String, times| Row::new(what, "ms", AtMost(100.0), times);
    let mut rows: Vec<Row> = asked
        .iter()
        .map(|(what, query, more)| {
            row(format!("search for {what}"), (0..QUERIES).map(|_| ask(&warm, query, more)).collect())
        })
        .collect();
    drop(warm);
    for (what, query, more) in asked.iter().take(2) {
        let cold = (0..COLD).map(|_| {
            forget(&dir.join("state"));
            ask(&lab(dir), query, more)
        });
        rows.push(row(format!("search for {what}, first of a server"), cold.collect()));
    }
    rows
}

/// Has the system forget what it holds of the files in a folder, so that they are read from disk.
fn forget(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            forget(&path);
        } else if let Ok(file) = std::fs::File::open(&path) {
            file.sync_all().unwrap();
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        }
    }
}
