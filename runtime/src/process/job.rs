//! One process that the server has started: its output, its input, how it ended, and the handle to end it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use rustix::process::{Pid, Signal};
use tokio::sync::{Notify, SetOnce, watch};

use super::exit::{Exit, Reason};
use super::input::Input;
use super::ring::{Cursor, Log, Segment};
use super::tree::{self, Descent};

/// What a process was started for; decides who lists it and how long it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One call that waits for the end.
    Call,
    /// A background process.
    Managed,
    /// A command that may be resumed.
    Command,
    /// A terminal session.
    Terminal,
}

/// The principal that something belongs to.
pub type Owner = Arc<str>;

/// A process. Shared by its pump, the registry and every caller that looks at it.
#[derive(Debug)]
pub struct Job {
    /// Process id of the leader, which is the id of its group too.
    pub pid: i32,
    /// The command for display, values after secret-named flags masked.
    pub title: String,
    /// Who started it.
    pub owner: Owner,
    /// What for.
    pub kind: Kind,
    /// When, by the wall clock.
    pub started_at: SystemTime,
    /// When, by the clock that never jumps.
    pub started: Instant,
    /// Its standard input, if it has one.
    pub input: Option<Input>,
    /// Whether its screen is a terminal.
    pub(super) terminal: bool,
    pub(super) tag: u64,
    pub(super) descent: Descent,
    pub(super) log: Mutex<Log>,
    pub(super) state: Mutex<State>,
    /// Counts changes of output and state.
    pub(super) changed: watch::Sender<u64>,
    /// Status known, output complete, nothing more will change. Apart from `changed`, so that output does not wake those
    /// who wait for the end alone.
    pub(super) over: SetOnce<(Exit, Instant)>,
    /// A reader has made room in the log.
    pub(super) room: Notify,
    /// Somebody wants it ended.
    pub(super) stop: Notify,
}

/// What changes in a job's life.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The leader, until it has been waited for: what is remembered of a job later must not cost a descriptor.
    pub(super) leader: Option<Arc<OwnedFd>>,
    /// The leader's status, once it has been waited for.
    pub(super) exit: Option<Exit>,
    /// Who wants it ended.
    pub(super) reason: Option<Reason>,
}

/// Output and end of a job, seen at one moment.
#[derive(Debug)]
pub struct Progress {
    /// New output, in the order it came.
    pub segments: Vec<Segment>,
    /// Set when this is all there will be.
    pub exit: Option<Exit>,
    /// Whether the log is full and waits for an acknowledgement.
    pub full: bool,
}

impl Job {
    /// How it ended; none while anything of it may still come.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.over.get().map(|(exit, _)| *exit)
    }

    /// When it ended.
    #[must_use]
    pub fn ended_at(&self) -> Option<Instant> {
        self.over.get().map(|(_, at)| *at)
    }

    /// Waits until it has ended and all its output is in the log.
    pub async fn ended(&self) -> Exit {
        self.over.wait().await.0
    }

    /// Changes of output or state, for a reader that waits.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The next output for a reader, up to about `limit` bytes.
    #[must_use]
    pub fn progress(&self, cursor: &mut Cursor, limit: usize) -> Progress {
        // First the end, then the log: in the other order the last output could be missed.
        let exit = self.exit();
        let log = self.log();
        let segments = log.read(cursor, limit);
        let full = [super::Stream::Stdout, super::Stream::Stderr].iter().any(|s| log.room(*s) == 0);
        let exit = if segments.is_empty() { exit } else { None };
        Progress { segments, exit, full }
    }

    /// Tells the log that everything before these offsets has been taken care of.
    pub fn acknowledge(&self, offsets: [u64; 2]) {
        if self.log().acknowledge(offsets) {
            self.room.notify_one();
        }
    }

    /// Tells the log how far its one reader is, or that there is none; see [`Log::follow`].
    pub fn follow(&self, reader: Option<u64>) {
        self.log().follow(reader);
        self.room.notify_one();
    }

    /// Signals the foreground group of its terminal, which is what a key would do; elsewhere the whole group.
    pub async fn signal_foreground(&self, number: u8) {
        let Some(signal) = super::signals::system(number) else { return };
        let foreground = match &self.input {
            Some(input) => input.foreground().await,
            None => None,
        };
        if let Some(group) = foreground.filter(|group| group.as_raw_nonzero().get() != self.pid) {
            // The kernel has just said that this group is on our terminal.
            let _ = rustix::process::kill_process_group(group, signal);
        }
        // What only interrupts a job is not for the shell behind it.
        if foreground.is_none_or(|group| group.as_raw_nonzero().get() == self.pid) || !matches!(number, 2 | 3)
        {
            self.signal_group(signal);
        }
    }

    /// The log, for reading offsets and slices. Held for moments only.
    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for its end: the whole group and all descendants get SIGTERM, and SIGKILL two seconds later. Returns at
    /// once; [`Job::ended`] tells when it is done. The first reason stands.
    pub fn end(&self, reason: Reason) {
        let mut state = self.state();
        if self.over.get().is_none() && state.reason.is_none() {
            state.reason = Some(reason);
            self.stop.notify_one();
        }
    }

    /// Signals the whole group, as long as anything of it lives. False when nothing does.
    ///
    /// Reads the process table where the leader is gone: call it off the async threads.
    #[must_use]
    pub fn signal(&self, number: u8) -> bool {
        let Some(signal) = super::signals::system(number) else { return false };
        self.signal_group(signal) || tree::signal_all(self.leaderless(), &[signal]) > 0
    }

    /// Signals the leader's group while the leader has not been waited for, so that its number is surely its own.
    pub(super) fn signal_group(&self, signal: Signal) -> bool {
        // Held over the call: the pump takes the same lock to wait for the leader.
        let state = self.state();
        match Pid::from_raw(self.pid) {
            Some(pid) if state.exit.is_none() => rustix::process::kill_process_group(pid, signal).is_ok(),
            _ => false,
        }
    }

    /// Sets the size of its terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn resize(&self, columns: u16, rows: u16) -> std::io::Result<()> {
        match &self.input {
            Some(input) => input.resize(columns, rows).await,
            None => Ok(()),
        }
    }

    /// Everything that descends from it, by what can still be relied on.
    pub(super) fn descendants(&self) -> Descent {
        if self.state().exit.is_some() { self.leaderless() } else { self.descent }
    }

    /// Pids of all that lives of it, itself included. Reads the process table: call it off the async threads.
    #[must_use]
    pub fn family(&self) -> Vec<i32> {
        tree::members(self.descendants()).into_iter().map(|member| member.pid).collect()
    }

    fn leaderless(&self) -> Descent {
        Descent { session: None, ..self.descent }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes down that it has ended: its status is known and all its output is in the log.
    pub(super) fn complete(&self) {
        if let Some(exit) = self.state().exit {
            // Its one pump says so once.
            let _ = self.over.set((exit, Instant::now()));
        }
        self.touch();
    }

    pub(super) fn touch(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

/// Ends a job when the call that waits for it is dropped: its caller has gone away.
#[derive(Debug)]
pub struct EndOnDrop(pub Arc<Job>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end(Reason::Disconnect);
    }
}
