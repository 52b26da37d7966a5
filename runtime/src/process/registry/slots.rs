//! How many there may be at once: background processes, and terminals whoever they are for.

use super::{Engine, Table};
use crate::process::job::{Job, Kind};
use crate::process::launch::{Launch, Screen, SpawnError};

/// Terminals that may be open at once: sessions and commands on a terminal together.
pub const MAX_TERMINALS: usize = 10;

/// What is bounded.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Managed,
    Terminals,
}

/// Processes that are being started, by what bounds them.
#[derive(Debug, Default)]
pub(super) struct Starting {
    managed: usize,
    terminals: usize,
}

/// A process that is being started, until it counts as one that runs; nothing of one that is not bounded.
pub(super) struct Slot<'a>(&'a Engine, Option<Bound>);

impl Slot<'_> {
    /// It runs, which the table is told under the same lock: a process that counted twice for a moment would take the place
    /// of another.
    pub(super) fn filled(mut self, table: &mut Table) {
        if let Some(bound) = self.1.take() {
            *bound.starting(table) -= 1;
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(bound) = self.1 {
            *bound.starting(&mut self.0.table()) -= 1;
        }
    }
}

impl Bound {
    fn of(launch: &Launch) -> Option<Self> {
        match launch.screen {
            Screen::Terminal { .. } => Some(Self::Terminals),
            Screen::Pipes => (launch.kind == Kind::Managed).then_some(Self::Managed),
        }
    }

    fn counts(self, job: &Job) -> bool {
        match self {
            Self::Managed => job.kind == Kind::Managed,
            Self::Terminals => job.terminal,
        }
    }

    fn starting(self, table: &mut Table) -> &mut usize {
        match self {
            Self::Managed => &mut table.starting.managed,
            Self::Terminals => &mut table.starting.terminals,
        }
    }
}

impl Engine {
    /// Counts a process before it exists, so that two callers cannot take the last slot.
    pub(super) fn take_slot(&self, launch: &Launch) -> Result<Slot<'_>, SpawnError> {
        let Some(bound) = Bound::of(launch) else { return Ok(Slot(self, None)) };
        let mut table = self.table();
        let running = table.jobs.values().filter(|job| bound.counts(job) && job.exit().is_none()).count();
        let starting = bound.starting(&mut table);
        let taken = running + *starting;
        match bound {
            Bound::Managed if taken >= self.max_processes => {
                return Err(SpawnError::TooMany { limit: self.max_processes });
            }
            Bound::Terminals if taken >= MAX_TERMINALS => {
                return Err(SpawnError::TooManyTerminals { limit: MAX_TERMINALS });
            }
            _ => *starting += 1,
        }
        Ok(Slot(self, Some(bound)))
    }
}
