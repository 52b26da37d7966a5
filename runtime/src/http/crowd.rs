//! The connections that are open, bounded. When there are too many, the one that has been silent longest makes room, so
//! that a flood of connections that never send cannot keep others out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Most connections at the same time, over all listeners.
pub const MAX_CONNECTIONS: usize = policy_lang::check::limit_above_ceiling::MAX_CONNECTIONS as usize;

/// Most of them while the server is still starting: the directories that its policy names need descriptors too, and a flood
/// must not end the start.
const MAX_AT_START: usize = 32;

/// Every open connection.
#[derive(Debug)]
pub struct Crowd {
    room: Arc<Semaphore>,
    /// In the order of their arrival; those that have left are still named until their turn comes.
    members: Mutex<VecDeque<Weak<Seat>>>,
}

#[derive(Debug, Default)]
struct Seat {
    requests: AtomicU32,
    leave: Notify,
}

/// An open connection; leaves the crowd when dropped.
#[derive(Debug)]
pub struct Member {
    seat: Arc<Seat>,
    _room: OwnedSemaphorePermit,
}

/// A request under way, until the last byte of its answer: its connection keeps its place and is not asked to make room.
#[derive(Debug)]
pub struct Busy(Arc<Member>);

/// A way to end the connection of a request, which does not keep it.
#[derive(Debug)]
pub struct Cut(Weak<Seat>);

impl Crowd {
    /// Room for those that may come during the start.
    #[must_use]
    pub fn at_start() -> Self {
        Self::new(MAX_AT_START)
    }

    /// Makes room for all: once, when the start is over.
    pub fn open_up(&self) {
        self.room.add_permits(MAX_CONNECTIONS - MAX_AT_START);
    }

    fn new(most: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(most)), members: Mutex::default() }
    }

    /// Takes a place for a new connection; where there is none, the oldest idle connection is asked to leave first.
    pub async fn join(&self) -> Option<Member> {
        let room = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(room) => room,
            Err(_) => {
                self.evict_one();
                Arc::clone(&self.room).acquire_owned().await.ok()?
            }
        };
        let seat = Arc::new(Seat::default());
        let mut members = self.members();
        if members.len() >= 2 * MAX_CONNECTIONS {
            members.retain(|member| member.strong_count() > 0);
        }
        members.push_back(Arc::downgrade(&seat));
        Some(Member { seat, _room: room })
    }

    fn evict_one(&self) {
        let mut members = self.members();
        let idle =
            |member: &Weak<Seat>| member.upgrade().filter(|seat| seat.requests.load(Ordering::Acquire) == 0);
        let found = members.iter().enumerate().find_map(|(at, member)| Some((at, idle(member)?)));
        if let Some((at, seat)) = found {
            members.remove(at);
            seat.leave.notify_one();
        }
    }

    fn members(&self) -> MutexGuard<'_, VecDeque<Weak<Seat>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Marks the connection as busy until the mark is dropped.
    #[must_use]
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.seat.requests.fetch_add(1, Ordering::AcqRel);
        Busy(Arc::clone(self))
    }

    /// Resolves when the connection is asked to make room, or is cut.
    pub async fn evicted(&self) {
        self.seat.leave.notified().await;
    }
}

impl Busy {
    /// A way to end the connection.
    #[must_use]
    pub fn cut(&self) -> Cut {
        Cut(Arc::downgrade(&self.0.seat))
    }
}

impl Cut {
    /// Ends the connection, with whatever is under way on it.
    pub fn now(self) {
        if let Some(seat) = self.0.upgrade() {
            seat.leave.notify_one();
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.seat.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::Crowd;
    use std::sync::Arc;
    use std::time::Duration;

    #[tokio::test]
    async fn the_oldest_silent_connection_makes_room() {
        let crowd = Crowd::new(2);
        let (first, second) = (Arc::new(crowd.join().await.unwrap()), crowd.join().await.unwrap());
        let _busy = first.busy();
        let third = {
            let joining = crowd.join();
            tokio::pin!(joining);
            assert!(tokio::time::timeout(Duration::from_millis(10), &mut joining).await.is_err());
            second.evicted().await;
            drop(second);
            joining.await
        };
        assert!(third.is_some());
    }
}
