//! What lives on after the process that started it has ended: kept, drained, listed, and ended when somebody asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::super::ending;
use super::super::job::{Job, Kind, Owner};
use super::super::tree::{self, Member};
use super::Engine;

/// From so many ended calls on, the process table is read to see which have left anything.
pub(super) const CROWDED: usize = 1024;

/// An ended call, for as long as something of it may live on.
#[derive(Debug, Clone)]
pub(super) struct Remains {
    owner: Owner,
    title: String,
    started_at: SystemTime,
}

/// A process that outlived the call that it descends from.
#[derive(Debug, Clone)]
pub struct Orphan {
    /// Its process id.
    pub pid: i32,
    /// The command of the call that it descends from.
    pub title: String,
    /// When that call began.
    pub started_at: SystemTime,
}

impl Remains {
    pub(super) fn of(job: &Arc<Job>) -> Self {
        Self { owner: Arc::clone(&job.owner), title: job.title.clone(), started_at: job.started_at }
    }
}

impl Engine {
    /// Orphans that the caller may know of. Reads the process table: call it off the async threads.
    #[must_use]
    pub fn orphans(&self, visible: impl Fn(&Owner) -> bool) -> Vec<Orphan> {
        let living = self.sweep();
        let table = self.table();
        let mut found: Vec<Orphan> = living
            .into_iter()
            .filter_map(|(pid, tag)| {
                let remains = table.remains.get(&tag)?;
                visible(&remains.owner).then(|| Orphan {
                    pid,
                    title: remains.title.clone(),
                    started_at: remains.started_at,
                })
            })
            .collect();
        found.sort_unstable_by_key(|orphan| orphan.pid);
        found
    }

    /// Signals one orphan that the caller may know of. False when there is none of that pid. Reads the process table.
    #[must_use]
    pub fn signal_orphan(&self, pid: i32, number: u8, visible: impl Fn(&Owner) -> bool) -> bool {
        let Some(signal) = super::super::signals::system(number) else { return false };
        let tag = {
            let living = self.sweep();
            let Some(tag) = living.get(&pid).copied() else { return false };
            let table = self.table();
            match table.remains.get(&tag) {
                Some(remains) if visible(&remains.owner) => tag,
                _ => return false,
            }
        };
        tree::signal_one(self.tags.of(tag, None), pid, signal)
    }

    /// Ends everything that a call has left behind.
    pub async fn end_remains(&self, job: &Job) {
        ending::end_orphans(self.tags.of(job.tag, None)).await;
    }

    /// Drops remains of which nothing lives; returns the living by pid with the tag of their call.
    pub(super) fn sweep(&self) -> HashMap<i32, u64> {
        // What ends after the table was read is swept the next time.
        let known: Vec<u64> = self.table().remains.keys().copied().collect();
        let members: Vec<Member> = tree::members(self.tags.all());
        let living: HashMap<i32, u64> = members.iter().map(|m| (m.pid, self.tags.owner(*m))).collect();
        let mut table = self.table();
        for tag in known {
            if !living.values().any(|owner| *owner == tag) {
                table.remains.remove(&tag);
            }
        }
        // Descendants of what still runs are no orphans.
        let running: Vec<u64> = table
            .jobs
            .values()
            .filter(|job| job.exit().is_none() || job.kind == Kind::Terminal)
            .map(|job| job.tag)
            .collect();
        living.into_iter().filter(|(_, tag)| !running.contains(tag)).collect()
    }
}
