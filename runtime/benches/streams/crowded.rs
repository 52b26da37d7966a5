//! Many commands at once that only sleep: how long whoever asks for something else waits meanwhile.

use crate::client::Http;
use crate::peers::{Kind, Peer};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many sleep.
const COMMANDS: usize = 32;

/// Milliseconds that one in a hundred may wait.
const GOAL: f64 = 50.0;

/// Prints what one in a hundred callers of `/health` waited at least.
pub(crate) fn run(dir: &Path) {
    println!("\n{COMMANDS} commands that sleep for 30 s, and who asks for `/health` meanwhile");
    let peer = Peer::start(Kind::Ours, dir).unwrap();
    let mut sleepers: Vec<Http> = (0..COMMANDS).map(|_| Http::connect(&peer)).collect();
    for sleeper in &mut sleepers {
        sleeper.post("/shell", r#"{"command":"sleep 30"}"#);
    }
    let (mut http, mut waits) = (Http::connect(&peer), Vec::new());
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        let begun = Instant::now();
        http.get("/health");
        http.body();
        waits.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    waits.sort_by(f64::total_cmp);
    let (half, rare) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!("  p50 {half:.2} ms, p99 {rare:.2} ms   goal <= {GOAL} ms");
    for sleeper in &mut sleepers {
        sleeper.body();
    }
}
