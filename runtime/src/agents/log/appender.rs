//! Many small appends as few large ones: what comes while one commit is under way goes into the next.

use super::{Log, NewEvent};
use crate::agents::store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Most bytes that wait for the disk; who pushes more waits with them.
const MOST_BYTES: usize = 8 << 20;
/// Most events of one append.
const MOST_EVENTS: usize = 2000;
/// Events below which a little is waited for more, and how long.
const FEW: usize = 64;
const WAIT: Duration = Duration::from_millis(2);

/// One session's way into the log for what comes in floods. Clones share the queue. What was pushed is appended even when
/// every clone is gone.
#[derive(Debug, Clone)]
pub struct Appender {
    queue: mpsc::UnboundedSender<Entry>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
enum Entry {
    Event(Box<NewEvent>, OwnedSemaphorePermit),
    Flush(oneshot::Sender<()>),
}

impl Appender {
    pub(super) fn start(log: Log, session_id: &str) -> Self {
        let (queue, entries) = mpsc::unbounded_channel();
        tokio::spawn(run(log, session_id.to_owned(), entries));
        Self { queue, room: Arc::new(Semaphore::new(MOST_BYTES)) }
    }

    /// Puts an event behind the earlier ones; waits while 8 MiB are not yet on disk.
    ///
    /// # Errors
    /// [`StoreError::NotStored`] where an earlier event could not be stored: nothing is appended behind a gap.
    pub async fn push(&self, event: NewEvent) -> Result<(), StoreError> {
        let weight = event.weight().min(MOST_BYTES);
        let weight = u32::try_from(weight).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(weight).await;
        let room = room.map_err(|_| StoreError::NotStored)?;
        self.queue.send(Entry::Event(Box::new(event), room)).map_err(|_| StoreError::NotStored)
    }

    /// Waits until everything that was pushed before is on disk.
    ///
    /// # Errors
    /// [`StoreError::NotStored`] where it is not and will not be.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let (tell, told) = oneshot::channel();
        self.queue.send(Entry::Flush(tell)).map_err(|_| StoreError::NotStored)?;
        told.await.map_err(|_| StoreError::NotStored)
    }
}

async fn run(log: Log, session_id: String, mut entries: mpsc::UnboundedReceiver<Entry>) {
    let mut taken = Vec::new();
    while entries.recv_many(&mut taken, MOST_EVENTS).await > 0 {
        let urgent = taken.iter().any(|entry| matches!(entry, Entry::Flush(_)));
        if taken.len() < FEW && !urgent {
            tokio::time::sleep(WAIT).await;
            let more = MOST_EVENTS - taken.len();
            while taken.len() < more
                && let Ok(entry) = entries.try_recv()
            {
                taken.push(entry);
            }
        }
        let (mut events, mut rooms, mut waiting) = (Vec::with_capacity(taken.len()), Vec::new(), Vec::new());
        for entry in taken.drain(..) {
            match entry {
                Entry::Event(event, room) => {
                    events.push(*event);
                    rooms.push(room);
                }
                Entry::Flush(tell) => waiting.push(tell),
            }
        }
        if !events.is_empty()
            && let Err(error) = log.append(&session_id, events).await
        {
            crate::log::say(format_args!("events of `{session_id}` were not stored: {error}"));
            // The queue closes with us: every later push and every flush is told.
            return;
        }
        drop(rooms);
        for tell in waiting {
            // Who asked may have gone.
            let _ = tell.send(());
        }
    }
}
