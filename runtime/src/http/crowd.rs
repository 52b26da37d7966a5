//! The connections that are open, bounded. When there are too many, the one that has been silent longest makes room, so
//! that a flood of connections that never send cannot keep others out. Nobody is sent away who has just come: the request may
//! be on its way.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// Most connections at the same time, over all listeners.
pub const MAX_CONNECTIONS: usize = policy_lang::check::limit_above_ceiling::MAX_CONNECTIONS as usize;

/// Most of them while the server is still starting: the directories that its policy names need descriptors too, and a flood
/// must not end the start.
const MAX_AT_START: usize = 32;

/// How long a connection must have been silent before it makes room for another.
const SILENCE: Duration = Duration::from_millis(250);

/// Every open connection.
#[derive(Debug)]
pub struct Crowd {
    room: Arc<Semaphore>,
    /// In the order of their arrival; those that have left are still named until their turn comes.
    members: Mutex<VecDeque<Weak<Seat>>>,
}

#[derive(Debug)]
struct Seat {
    taken: Instant,
    /// From then to the end of the last request, in milliseconds.
    rested: AtomicU64,
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

    /// Takes a place for a new connection; where there is none, the one that has been silent longest is asked to leave first.
    pub async fn join(&self) -> Option<Member> {
        let mut room = pin!(Arc::clone(&self.room).acquire_owned());
        let room = tokio::select! {
            biased;
            room = &mut room => room,
            () = self.evict_one() => room.await,
        };
        let seat = Arc::new(Seat::new());
        let mut members = self.members();
        if members.len() >= 2 * MAX_CONNECTIONS {
            members.retain(|member| member.strong_count() > 0);
        }
        members.push_back(Arc::downgrade(&seat));
        Some(Member { seat, _room: room.ok()? })
    }

    /// Asks one to leave as soon as there is one that has been silent for long enough.
    async fn evict_one(&self) {
        while let Err(later) = self.try_evict() {
            sleep_until(later).await;
        }
    }

    /// # Errors
    /// When to try again: nobody has been silent for long enough.
    fn try_evict(&self) -> Result<(), Instant> {
        let now = Instant::now();
        let mut members = self.members();
        let silent = members.iter().enumerate().filter_map(|(at, member)| {
            let seat = member.upgrade()?;
            Some((seat.silent_since()?, at, seat))
        });
        let Some((since, at, seat)) = silent.min_by_key(|(since, ..)| *since) else {
            return Err(now + SILENCE);
        };
        if since + SILENCE > now {
            return Err(since + SILENCE);
        }
        members.remove(at);
        seat.leave.notify_one();
        Ok(())
    }

    fn members(&self) -> MutexGuard<'_, VecDeque<Weak<Seat>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn new() -> Self {
        Self {
            taken: Instant::now(),
            rested: AtomicU64::new(0),
            requests: AtomicU32::new(0),
            leave: Notify::new(),
        }
    }

    /// None while a request is under way.
    fn silent_since(&self) -> Option<Instant> {
        let idle = self.requests.load(Ordering::Acquire) == 0;
        idle.then(|| self.taken + Duration::from_millis(self.rested.load(Ordering::Relaxed)))
    }

    fn rest(&self) {
        let rested = u64::try_from(self.taken.elapsed().as_millis()).unwrap_or_default();
        self.rested.store(rested, Ordering::Relaxed);
        self.requests.fetch_sub(1, Ordering::Release);
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
        self.0.seat.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::{Crowd, Member, SILENCE};
    use std::pin::{Pin, pin};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::{Instant, sleep, timeout};

    async fn member(crowd: &Crowd) -> Arc<Member> {
        Arc::new(crowd.join().await.unwrap())
    }

    /// Whether nothing comes of it although all who are idle have been silent for long enough.
    async fn waits<T>(joining: &mut Pin<&mut impl Future<Output = T>>) -> bool {
        timeout(SILENCE + Duration::from_millis(1), joining).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_that_has_been_silent_longest_makes_room() {
        let crowd = Crowd::new(3);
        let (first, second, third) = (member(&crowd).await, member(&crowd).await, member(&crowd).await);
        let _busy = first.busy();
        sleep(Duration::from_millis(10)).await;
        // It came earlier than the third, and was heard of later.
        drop(second.busy());
        let mut joining = pin!(crowd.join());
        assert!(waits(&mut joining).await);
        third.evicted().await;
        assert!(waits(&mut joining).await, "one is asked to leave, not the next too");
        drop(third);
        assert!(joining.await.is_some());
        assert!(timeout(SILENCE, second.evicted()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_sent_away_who_has_just_come() {
        let crowd = Crowd::new(1);
        let (came, only) = (Instant::now(), member(&crowd).await);
        let mut joining = pin!(crowd.join());
        tokio::select! {
            _ = &mut joining => unreachable!("there is no room"),
            () = only.evicted() => assert_eq!(came.elapsed(), SILENCE),
        }
        drop(only);
        assert!(joining.await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_while_all_are_busy_waits_on_when_they_rest() {
        let crowd = Crowd::new(1);
        let only = member(&crowd).await;
        let busy = only.busy();
        let mut joining = pin!(crowd.join());
        assert!(waits(&mut joining).await);
        drop(busy);
        assert!(waits(&mut joining).await);
        assert!(timeout(Duration::ZERO, only.evicted()).await.is_ok());
    }
}
