//! What sets a child apart from the server: a session of its own, or a process group in the server's session.
//!
//! A group is enough to end a child as a whole, and descendants that leave it are found by their tags. A session costs
//! more where the kernel schedules by sessions (autogroups): a child that makes one loses the processor in the middle of
//! its start, which on a busy machine makes short commands half as slow again. So children get a session only where it
//! protects something: where the server has a terminal that they could type into or be stopped by, and where tags do not
//! hold.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Of which kind a child's own room is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// A session, without a terminal.
    Session,
    /// A group, in a session that has no terminal either.
    Group,
}

impl Apart {
    /// What this server needs. It does not change: the server never opens a terminal in a way that makes it its own.
    pub(super) fn of_server() -> Self {
        let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        if has_no_terminal(&status) && tags_hold() { Self::Group } else { Self::Session }
    }
}

/// Whether a line of `/proc/PID/stat` tells of a process without a controlling terminal.
fn has_no_terminal(status: &str) -> bool {
    // The name in brackets may hold anything, brackets too. Behind it: state, parent, group, session, terminal.
    let fields = status.rsplit_once(')').map(|(_, fields)| fields);
    fields.and_then(|fields| fields.split_ascii_whitespace().nth(4)) == Some("0")
}

/// Whether the kernel takes the limit that tags are made of. Some sandboxes know the call and refuse this limit.
fn tags_hold() -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Locks);
    setrlimit(Resource::Locks, Rlimit { current, maximum }).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_seen_and_what_cannot_be_read_counts_as_one() {
        assert!(has_no_terminal("7 (sh) S 1 7 7 0 -1 4194560"));
        assert!(has_no_terminal("7 (a) R 1 2 (b) S 1 7 7 0 -1"));
        assert!(!has_no_terminal("7 (sh) S 1 7 7 34816 7 4194560"));
        assert!(!has_no_terminal("7 (sh) S 1 7 7"));
        assert!(!has_no_terminal(""));
    }
}
