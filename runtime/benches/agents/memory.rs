//! The memory of the server, looked at while something goes on.

use crate::lab::Lab;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it is looked at.
const PACE: Duration = Duration::from_millis(100);

/// What the server holds now, in MiB.
pub fn now(lab: &Lab) -> f64 {
    of(lab.server.pid())
}

fn of(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default();
    kib / 1024.0
}

/// Looks until it is ended.
pub struct Samples {
    over: Arc<AtomicBool>,
    looks: JoinHandle<Vec<f64>>,
}

impl Samples {
    pub fn of(lab: &Lab) -> Self {
        let (over, pid) = (Arc::<AtomicBool>::default(), lab.server.pid());
        let ended = Arc::clone(&over);
        let looks = std::thread::spawn(move || {
            let mut seen = vec![of(pid)];
            while !ended.load(Ordering::Acquire) {
                std::thread::sleep(PACE);
                seen.push(of(pid));
            }
            seen
        });
        Self { over, looks }
    }

    /// What was seen, in MiB, from the first look to the last.
    pub fn end(self) -> Vec<f64> {
        self.over.store(true, Ordering::Release);
        self.looks.join().unwrap()
    }
}
