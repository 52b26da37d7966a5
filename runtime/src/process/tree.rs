//! Finds the descendants of a process, wherever they have gone, and signals them without ever hitting a stranger.
//!
//! Every child carries a *tag* that all its descendants inherit and that neither `setsid`, a double fork nor an
//! emptied environment takes off: a value of the one resource limit that Linux has kept and never enforces
//! (`RLIMIT_LOCKS`). An unprivileged process can only lower it. Where a kernel has no such limit, every child leads a
//! session, and that of a leader that is still there is what is left to go by.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Whose descendants are meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// Tags from the first to the last of these.
    pub(super) tags: (u64, u64),
    /// The session of a leader whose number cannot be taken by another, because it has not been waited for.
    pub(super) session: Option<i32>,
}

/// One living descendant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) tag: u64,
}

/// The living descendants. Reads the whole process table: call it off the async threads.
pub(super) fn members(descent: Descent) -> Vec<Member> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let Ok(table) = fs::read_dir("/proc") else { return Vec::new() };
    table
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != own && *pid != 1)
        .filter_map(|pid| belongs(pid, descent))
        .collect()
}

/// Sends `signal` to every living descendant; returns how many there were.
pub(super) fn signal_all(descent: Descent, signals: &[Signal]) -> usize {
    let found = members(descent);
    for member in &found {
        for signal in signals {
            signal_one(descent, member.pid, *signal);
        }
    }
    found.len()
}

/// Sends `signal` to one process, if it is one of those meant.
pub(super) fn signal_one(descent: Descent, pid: i32, signal: Signal) -> bool {
    let Some(handle) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return false;
    };
    // The number may have changed hands before the handle was open; whoever holds it now must be ours as well.
    belongs(pid, descent).is_some() && pidfd_send_signal(&handle, signal).is_ok()
}

/// The process, if it lives and is one of those meant.
fn belongs(pid: i32, descent: Descent) -> Option<Member> {
    let tag = tag_of(pid).unwrap_or(0);
    let (low, high) = descent.tags;
    let tagged = (low..=high).contains(&tag);
    if !tagged && descent.session.is_none() {
        return None;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets too; the fields begin behind the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    let session: i32 = fields.nth(2)?.parse().ok()?;
    (tagged || descent.session == Some(session)).then_some(Member { pid, tag })
}

/// The tag that a process carries.
fn tag_of(pid: i32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Gives out tags, downwards: a server inside a sandbox of another server may lower the limit and not raise it.
#[derive(Debug)]
pub(super) struct Tags {
    highest: u64,
    step: u64,
    used: std::sync::atomic::AtomicU64,
}

/// The step between two tags of an outermost server: room for that many children of one nested in it.
const NESTED_ROOM: u64 = 1 << 12;

/// How many tags lie between two outermost servers; which of half a million places one takes is drawn at start, so that
/// two that share a process table do not take each other's children for their own.
const SERVER_ROOM: u64 = 1 << 42;

impl Tags {
    pub(super) fn new() -> Self {
        let own = rustix::process::getrlimit(rustix::process::Resource::Locks).maximum;
        let (highest, step) = match own {
            Some(limit) if limit < 1 << 62 => (limit, 1),
            _ => {
                let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
                ((1 << 62) - (random & 0x7_FFFF) * SERVER_ROOM, NESTED_ROOM)
            }
        };
        Self { highest, step, used: std::sync::atomic::AtomicU64::new(0) }
    }

    /// A tag that no other child has.
    pub(super) fn next(&self) -> u64 {
        let number = self.used.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        self.highest.saturating_sub(number.saturating_mul(self.step))
    }

    /// Everything beneath this server.
    pub(super) fn all(&self) -> Descent {
        let used = self.used.load(std::sync::atomic::Ordering::Relaxed);
        let lowest = self.highest.saturating_sub(used.saturating_mul(self.step));
        // Tags of a nested server lie below the tag of the child that it is.
        let low = lowest.saturating_sub(self.step - 1);
        Descent { tags: (low, self.highest - 1), session: None }
    }

    /// One child and all beneath it.
    pub(super) fn of(&self, tag: u64, session: Option<i32>) -> Descent {
        Descent { tags: (tag.saturating_sub(self.step - 1), tag), session }
    }

    /// The child that a member descends from.
    pub(super) fn owner(&self, member: Member) -> u64 {
        let distance = self.highest.saturating_sub(member.tag);
        self.highest.saturating_sub(distance / self.step * self.step)
    }
}
