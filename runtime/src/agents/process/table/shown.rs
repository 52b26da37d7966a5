//! A process as lists show it.

use super::super::agent::{AgentProcess, Phase};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// A process as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    process_id: String,
    agent_id: String,
    pid: i32,
    state: Phase,
    started_at: f64,
    last_frame_at: f64,
    rss_bytes: u64,
    children: usize,
    session_ids: Vec<String>,
    restarts: u32,
    in_flight: usize,
}

pub(super) fn show(process: &AgentProcess) -> Shown {
    let dead = process.phase() == Phase::Dead;
    let family = if dead { Vec::new() } else { process.job.family() };
    let now = SystemTime::now();
    Shown {
        process_id: process.id.clone(),
        agent_id: process.agent_id.clone(),
        pid: process.job.pid,
        state: process.phase(),
        started_at: seconds(process.job.started_at),
        last_frame_at: seconds(now.checked_sub(process.peer.silent_for()).unwrap_or(now)),
        rss_bytes: family.iter().map(|pid| resident(*pid)).sum(),
        children: family.iter().filter(|pid| **pid != process.job.pid).count(),
        session_ids: process.session_ids(),
        restarts: process.restarts,
        in_flight: process.peer.in_flight(),
    }
}

/// Bytes of memory that a process holds; none for one that has just gone.
fn resident(pid: i32) -> u64 {
    let pages = procfs::process::Process::new(pid).and_then(|process| process.statm());
    pages.map_or(0, |pages| pages.resident * procfs::page_size())
}

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
