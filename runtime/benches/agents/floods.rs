//! What agents say, on its way to disk and to all who read, and the memory that the server takes for it.

use crate::memory::{self, Samples};
use crate::table::{AtLeast, AtMost, Row};
use crate::tap::Tap;
use crate::{lab, prompt, session, tap};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Chunks of one flood, how often it is repeated, and who reads meanwhile.
const CHUNKS: u64 = 100_000;
const ROUNDS: usize = 5;
const READERS: usize = 4;
/// Agents at once, and chunks of each.
const AGENTS: usize = 16;
const OF_EACH: u64 = 5_000;
/// Chunks of the flood over which memory is looked at.
const ENDLESS: u64 = 1_000_000;
/// What the server may hold beyond idle, in MiB, however long an agent floods: queues, tails and caches, all of them bounded.
const HELD: f64 = 48.0;
/// The same for sixteen of them.
const HELD_FOR_ALL: f64 = 128.0;

pub fn flood(dir: &Path) -> Vec<Row> {
    let lab = lab(dir);
    let rates = (0..ROUNDS).map(|_| {
        let session = session(&lab, dir);
        let readers: Vec<Tap> = (0..READERS).map(|_| tap(&lab, &session)).collect();
        let begun = Instant::now();
        prompt(&lab, &session, &format!("flood {CHUNKS}"));
        for reader in readers {
            assert!(reader.wait() > CHUNKS);
        }
        let rate = CHUNKS as f64 / begun.elapsed().as_secs_f64();
        lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
        rate
    });
    vec![Row::new("one agent to disk and four readers", "chunks/s", AtLeast(10_000.0), rates.collect())]
}

pub fn sixteen(dir: &Path) -> Vec<Row> {
    let lab = lab(dir);
    let sessions: Vec<String> = (0..AGENTS).map(|_| session(&lab, dir)).collect();
    let idle = memory::now(&lab);
    let (mut rates, mut held, mut from) = (Vec::new(), Vec::new(), vec![0; AGENTS]);
    for _ in 0..ROUNDS {
        let readers: Vec<Tap> = sessions
            .iter()
            .zip(&from)
            .map(|(session, from)| {
                let path = format!("/agents/sessions/{session}/events/stream?after={from}");
                Tap::open(lab.server.port, &path)
            })
            .collect();
        let samples = Samples::of(&lab);
        let begun = Instant::now();
        for session in &sessions {
            prompt(&lab, session, &format!("flood {OF_EACH}"));
        }
        for (reader, from) in readers.into_iter().zip(&from) {
            assert!(reader.wait() > from + OF_EACH);
        }
        rates.push((AGENTS as u64 * OF_EACH) as f64 / begun.elapsed().as_secs_f64());
        held.extend(samples.end().into_iter().map(|seen| seen - idle));
        // All that a turn ends with is there once every session is idle.
        crate::lab::until("all are idle", || {
            (lab.get("/agents/sessions")["counts"] == json!({"idle": AGENTS})).then_some(())
        });
        from = sessions.iter().map(|session| lab.last(session)).collect();
    }
    vec![
        Row::new("sixteen agents to disk and a reader each", "chunks/s", AtLeast(10_000.0), rates),
        Row::new("held for sixteen agents, beyond idle", "MiB", AtMost(HELD_FOR_ALL), held),
    ]
}

pub fn endless(dir: &Path) -> Vec<Row> {
    let lab = lab(dir);
    let session = session(&lab, dir);
    let idle = memory::now(&lab);
    let reader = tap(&lab, &session);
    let samples = Samples::of(&lab);
    prompt(&lab, &session, &format!("flood {ENDLESS}"));
    reader.wait();
    let seen = samples.end();
    let tenths: Vec<f64> = (1..=10).map(|tenth| seen[(seen.len() - 1) * tenth / 10] - idle).collect();
    let shown: Vec<String> = tenths.iter().map(|held| format!("{held:.0}")).collect();
    println!("MiB beyond idle after each tenth of {ENDLESS} chunks: {}", shown.join(", "));
    let most = seen.into_iter().fold(0.0, f64::max) - idle;
    vec![
        Row::new("held while an agent floods, beyond idle", "MiB", AtMost(HELD), tenths),
        Row::new("the same, at most", "MiB", AtMost(HELD), vec![most]),
    ]
}
