//! Ends a job and everything beneath it: SIGTERM, two seconds, SIGKILL, until nothing is left.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use super::job::{Job, Kind};
use super::tree::{self, Descent};

/// How long a process has to end by itself after SIGTERM.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How long survivors are hunted; a process in an uninterruptible wait cannot be ended by anybody.
const HUNT: Duration = Duration::from_secs(5);

/// Ends the job. Returns when nothing of it is left.
pub(super) async fn end(job: Arc<Job>) {
    // An interactive shell ignores SIGTERM and obeys the hangup; a stopped one obeys nothing before SIGCONT.
    let polite: &[Signal] = match job.kind {
        Kind::Terminal => &[Signal::HUP, Signal::TERM, Signal::CONT],
        _ => &[Signal::TERM, Signal::CONT],
    };
    for signal in polite {
        job.signal_group(*signal);
    }
    let strangers = job.descendants();
    let polite = polite.to_vec();
    off_thread(move || tree::signal_all(strangers, &polite)).await;
    let begun = Instant::now();
    let mut pause = Duration::from_millis(2);
    while begun.elapsed() < GRACE {
        if gone(&job).await {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    while begun.elapsed() < GRACE + HUNT {
        job.signal_group(Signal::KILL);
        let rest = job.descendants();
        off_thread(move || tree::signal_all(rest, &[Signal::KILL])).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        if gone(&job).await {
            return;
        }
    }
}

/// Ends everything in a descent whose leaders are gone: orphans, at shutdown or on request.
pub(super) async fn end_orphans(descent: Descent) {
    let mut signals = vec![Signal::TERM, Signal::CONT];
    let begun = Instant::now();
    while begun.elapsed() < GRACE + HUNT {
        let now = std::mem::take(&mut signals);
        let left = off_thread(move || tree::signal_all(descent, &now)).await;
        if left == 0 {
            return;
        }
        if begun.elapsed() >= GRACE {
            signals = vec![Signal::KILL];
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Whether leader and descendants are all gone.
async fn gone(job: &Arc<Job>) -> bool {
    if job.state().exit.is_none() {
        return false;
    }
    let descent = job.descendants();
    off_thread(move || tree::members(descent).is_empty()).await
}

/// Runs what reads the process table where it holds up nobody. A failed run counts as nothing found.
async fn off_thread<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}
