//! Following: what is stored, then what comes, with no gap and no repeat.
//!
//! A follower knows one number, the last that it has yielded, and asks for what is behind it: memory where the newest
//! events are held, else the disk. Both are in the order of numbers, so there is no moment at which replay hands over.

use super::tail::Tail;
use super::{Asked, Event, Log, list, read};
use crate::agents::store::{StoreError, sessions};
use std::sync::Arc;
use tokio::sync::watch;

/// Most bytes read from disk at once.
const MOST_BYTES: usize = 4 << 20;

/// Why there is nothing more to follow.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// What comes next has been trimmed; the log begins at this number.
    #[error("the log begins at {first}")]
    Expired {
        /// The oldest number that is there.
        first: i64,
    },
    /// The number is beyond the end of the log.
    #[error("the log ends at {last}")]
    Beyond {
        /// The newest number.
        last: i64,
    },
    /// There is no such session, or no longer.
    #[error("no such session")]
    Gone,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A place in a log that moves on.
#[derive(Debug)]
pub struct Follow {
    log: Log,
    session: Option<i64>,
    after: i64,
    tail: Arc<Tail>,
    changes: watch::Receiver<i64>,
}

impl Follow {
    pub(super) async fn session(log: Log, session_id: &str, after: i64) -> Result<Self, FollowError> {
        let tail = log.0.tails.session(session_id);
        // Before the disk is read: what is written in between rings.
        let changes = tail.changes();
        let name = session_id.to_owned();
        let row = log.0.store.read(move |db| sessions::find(db, &name)).await?.ok_or(FollowError::Gone)?;
        if after + 1 < row.first_seq {
            return Err(FollowError::Expired { first: row.first_seq });
        }
        if after > row.last_seq {
            return Err(FollowError::Beyond { last: row.last_seq });
        }
        Ok(Self { log, session: Some(row.no), after, tail, changes })
    }

    pub(super) async fn all(log: Log, after: Option<i64>) -> Result<Self, FollowError> {
        let tail = log.0.tails.all();
        let changes = tail.changes();
        let ends = log.0.store.read(|db| Ok((read::first_gseq(db)?, read::last_gseq(db)?))).await?;
        let (first, last) = ends;
        let after = after.unwrap_or(last);
        if after + 1 < first {
            return Err(FollowError::Expired { first });
        }
        if after > last {
            return Err(FollowError::Beyond { last });
        }
        Ok(Self { log, session: None, after, tail, changes })
    }

    /// The last number that was yielded.
    #[must_use]
    pub fn after(&self) -> i64 {
        self.after
    }

    /// How many numbers behind the newest.
    #[must_use]
    pub fn behind(&self) -> i64 {
        (self.tail.newest() - self.after).max(0)
    }

    /// What is there behind the last one, at most `most` events; empty where nothing is.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn ready(&mut self, most: usize) -> Result<Vec<Arc<Event>>, FollowError> {
        // Seen before it is looked, so that what comes in between wakes us.
        self.changes.mark_unchanged();
        if self.tail.has_ended() {
            return Err(FollowError::Gone);
        }
        let events = match self.tail.since(self.after, most) {
            Some(events) => events,
            None => self.stored(most).await?,
        };
        if let Some(last) = events.last() {
            self.after = if self.session.is_some() { last.seq } else { last.gseq };
        }
        Ok(events)
    }

    /// Waits until there may be more.
    pub async fn changed(&mut self) {
        // The sender lives as long as the tail that we hold.
        let _ = self.changes.changed().await;
    }

    /// The next events, at least one and at most `most`.
    ///
    /// # Errors
    /// That what comes next has been trimmed, that the session is gone, or that the store failed.
    pub async fn next(&mut self, most: usize) -> Result<Vec<Arc<Event>>, FollowError> {
        loop {
            let events = self.ready(most).await?;
            if !events.is_empty() {
                return Ok(events);
            }
            self.changed().await;
        }
    }

    async fn stored(&self, most: usize) -> Result<Vec<Arc<Event>>, FollowError> {
        let (session, after) = (self.session, self.after);
        let asked = Asked { session, after, limit: most, max_bytes: MOST_BYTES, ..Asked::default() };
        let (first, events) = self
            .log
            .0
            .store
            .read(move |db| {
                let first = match session {
                    Some(session) => db
                        .prepare_cached("SELECT first_seq FROM sessions WHERE no = ?1")?
                        .query_row([session], |row| row.get(0))?,
                    None => read::first_gseq(db)?,
                };
                Ok((first, list(db, &asked)?.0))
            })
            .await
            .map_err(|error| match error {
                StoreError::Database(rusqlite::Error::QueryReturnedNoRows) => FollowError::Gone,
                other => FollowError::Store(other),
            })?;
        if after + 1 < first {
            return Err(FollowError::Expired { first });
        }
        Ok(events.into_iter().map(Arc::new).collect())
    }
}
