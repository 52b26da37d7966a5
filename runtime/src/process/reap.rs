//! Adopts what its parents have left, and waits for it, so that no zombie is left: in a container the server is often
//! process 1, and elsewhere it makes itself the one to whom orphans go.

use std::io;
use std::sync::{Arc, PoisonError};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::signal::unix::{SignalKind, signal};

use super::registry::Engine;
use super::{pump, sys};

impl Engine {
    /// Makes the server the parent of its descendants' orphans and waits for them as they end. Once per process,
    /// and only in one that starts no children but through this engine.
    ///
    /// # Errors
    /// The signal that tells of a child's end cannot be watched.
    pub fn adopt_orphans(self: &Arc<Self>) -> io::Result<()> {
        // Process 1 has them anyway.
        let _ = rustix::process::set_child_subreaper(Pid::from_raw(1));
        let mut ends = signal(SignalKind::child())?;
        let engine = Arc::downgrade(self);
        tokio::spawn(async move {
            while ends.recv().await.is_some() {
                let Some(engine) = engine.upgrade() else { return };
                engine.reap_orphans();
            }
        });
        Ok(())
    }

    /// Waits for every child that has ended.
    fn reap_orphans(&self) {
        while let Some(pid) = sys::ended_child() {
            match self.leads(pid) {
                // Its pump may be a moment behind; whoever comes first takes the status down for both.
                Some(job) => {
                    if !pump::reap(&job) {
                        return;
                    }
                }
                None => self.reap_unless_leader(pid),
            }
        }
    }

    fn reap_unless_leader(&self, pid: i32) {
        // A child that is just being started is not in the table yet.
        let _no_births = self.births.write().unwrap_or_else(PoisonError::into_inner);
        if self.leads(pid).is_none()
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}
