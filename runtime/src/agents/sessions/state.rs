//! The state of a session, as it follows from what is so.

use super::super::turns::queue::Queue;

/// What callers see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Its agent is being started.
    Starting,
    /// Its agent waits for a prompt.
    Idle,
    /// A turn runs.
    Running,
    /// A turn runs and waits for somebody's answer.
    Waiting,
    /// Its agent is gone; it can be resumed.
    Disconnected,
    /// A caller has closed it.
    Closed,
    /// Its agent never came up.
    Failed,
}

/// Where its agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Link {
    /// On its way.
    Starting,
    /// There.
    Live,
    /// Gone.
    #[default]
    Gone,
    /// Let go by a caller.
    Closed,
    /// It never came up.
    Failed,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Starting,
        Self::Idle,
        Self::Running,
        Self::Waiting,
        Self::Disconnected,
        Self::Closed,
        Self::Failed,
    ];

    /// As written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Disconnected => "disconnected",
            Self::Closed => "closed",
            Self::Failed => "failed",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// What follows from the link to the agent, the queue and the number of open requests.
    #[must_use]
    pub fn of(link: Link, queue: &Queue, requests: usize) -> Self {
        match link {
            Link::Starting => Self::Starting,
            Link::Gone => Self::Disconnected,
            Link::Closed => Self::Closed,
            Link::Failed => Self::Failed,
            Link::Live if queue.in_flight().is_none() => Self::Idle,
            Link::Live if requests > 0 => Self::Waiting,
            Link::Live => Self::Running,
        }
    }

    /// Whether it counts among the sessions that may be open at once.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Starting | Self::Idle | Self::Running | Self::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::{Link, State};
    use crate::agents::turns::queue::Queue;
    use proptest::prelude::*;

    #[test]
    fn names_lead_back() {
        for state in State::ALL {
            assert_eq!(State::from_name(state.as_str()), Some(state));
        }
        assert_eq!(State::from_name("open"), None);
    }

    #[test]
    fn what_follows() {
        let mut queue = Queue::default();
        queue.push("t".to_owned(), 1).unwrap();
        assert_eq!(State::of(Link::Live, &queue, 0), State::Idle);
        queue.start();
        assert_eq!(State::of(Link::Live, &queue, 0), State::Running);
        assert_eq!(State::of(Link::Live, &queue, 2), State::Waiting);
        assert_eq!(State::of(Link::Gone, &queue, 2), State::Disconnected);
    }

    proptest! {
        #[test]
        fn only_a_live_agent_runs_or_waits(at in 0usize..5, requests in 0usize..3) {
            let link = [Link::Starting, Link::Live, Link::Gone, Link::Closed, Link::Failed][at];
            let mut queue = Queue::default();
            queue.push("t".to_owned(), 1).unwrap();
            queue.start();
            let busy = matches!(State::of(link, &queue, requests), State::Running | State::Waiting);
            prop_assert_eq!(busy, link == Link::Live);
        }
    }
}
