//! How a process ended.

use rustix::process::WaitIdStatus;

/// Why the server ended a process before it ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It ran longer than the call or its rule allows.
    Timeout,
    /// Nobody was attached to it for too long.
    Idle,
    /// The caller went away.
    Disconnect,
    /// A caller asked for it.
    Delete,
    /// The server is stopping.
    Shutdown,
}

/// The wait status of a leader, and who brought it about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The status it gave, 0 to 255; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it left a core file.
    pub core_dumped: bool,
    /// Set where the server ended it.
    pub reason: Option<Reason>,
}

impl Exit {
    /// Reads a wait status.
    pub(super) fn from_status(status: &WaitIdStatus, reason: Option<Reason>) -> Self {
        Self {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            core_dumped: status.dumped(),
            reason,
        }
    }

    /// One number for the wire: the status, or the negated signal as Python's `returncode` has it.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        self.code.or(self.signal.map(|s| -s)).unwrap_or(-1)
    }

    /// Whether it ran out of time.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.reason == Some(Reason::Timeout)
    }
}
