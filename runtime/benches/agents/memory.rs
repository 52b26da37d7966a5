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

    /// What was seen, beside what was held before: at a tenth, the half and the end of the time, and at most.
    pub fn end(self, idle: f64) -> String {
        self.over.store(true, Ordering::Release);
        let seen = self.looks.join().unwrap();
        let at = |tenths: usize| seen[(seen.len() - 1) * tenths / 10];
        let most = seen.iter().copied().fold(0.0, f64::max);
        format!(
            "memory: {idle:.1} MiB before; {:.1}, {:.1}, {:.1} MiB after a tenth, half and all; at most {most:.1} MiB",
            at(1),
            at(5),
            at(10)
        )
    }
}
