//! The one thread that writes. Whatever waits when it is free goes into one transaction, and one `fsync` answers all.

use super::StoreError;
use rusqlite::Connection;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Most writes of one commit,
const MOST: usize = 1000;
/// and how long it may gather: who waits for the first must not wait for ever.
const LONGEST: Duration = Duration::from_millis(20);

/// Prepared statements that are kept.
const STATEMENTS: usize = 256;

/// Runs a closure of a caller, and yields how to answer it.
type Work = Box<dyn FnOnce(&Connection) -> Option<Answer> + Send>;

/// Tells the caller that it is on disk, or that it is not.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// The writer's end of its queue.
#[derive(Debug)]
pub(super) struct Writer(Sender<Work>);

/// Sets what a connection needs that writes.
pub(super) fn prepare(db: &Connection) -> Result<(), StoreError> {
    db.execute_batch(
        "PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA journal_size_limit = 33554432;",
    )?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

impl Writer {
    pub(super) fn start(db: Connection, lost: Arc<AtomicU64>) -> Result<Self, StoreError> {
        let (queue, work) = channel();
        std::thread::Builder::new().name("agents-store".to_owned()).spawn(move || run(&db, &work, &lost))?;
        Ok(Self(queue))
    }

    pub(super) fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        let (tell, told) = oneshot::channel();
        let work: Work = Box::new(move |db| match work(db) {
            Ok(value) => Some(Box::new(move |stored| {
                let answer = stored.map(|()| {
                    then(&value);
                    value
                });
                // Who asked may have gone; what was written stays.
                let _ = tell.send(answer);
            })),
            Err(error) => {
                let _ = tell.send(Err(error.into()));
                None
            }
        });
        let sent = self.0.send(work);
        async move {
            sent.map_err(|_| StoreError::Stopped)?;
            told.await.map_err(|_| StoreError::Stopped)?
        }
    }
}

fn run(db: &Connection, work: &Receiver<Work>, lost: &AtomicU64) {
    while let Ok(first) = work.recv() {
        if let Err(error) = group(db, first, work, lost) {
            // Every write of this commit is told that it failed, by the drop of its answer at the latest.
            crate::log::say(format_args!("the agents database failed: {error}"));
            lost.fetch_add(1, Ordering::Release);
            if !db.is_autocommit() {
                let _ = db.execute_batch("ROLLBACK");
            }
        }
    }
}

/// One transaction: the first write, and what else waits.
fn group(db: &Connection, first: Work, work: &Receiver<Work>, lost: &AtomicU64) -> rusqlite::Result<()> {
    let began = Instant::now();
    let mut answers = Vec::new();
    let mut next = Some(first);
    db.execute_batch("BEGIN IMMEDIATE")?;
    while let Some(work_now) = next.take() {
        match one(db, work_now)? {
            Some(answer) => answers.push(answer),
            None => {
                lost.fetch_add(1, Ordering::Release);
            }
        }
        if answers.len() < MOST && began.elapsed() < LONGEST {
            next = work.try_recv().ok();
        }
    }
    let stored = db.execute_batch("COMMIT");
    if stored.is_err() {
        lost.fetch_add(1, Ordering::Release);
    }
    let full = |error: &rusqlite::Error| error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull);
    for answer in answers {
        let outcome = match &stored {
            Ok(()) => Ok(()),
            Err(error) if full(error) => Err(StoreError::NoSpace),
            Err(_) => Err(StoreError::NotStored),
        };
        // A panic of one must not take the answers of the others.
        let _ = catch_unwind(AssertUnwindSafe(|| answer(outcome)));
    }
    stored
}

/// One write within the transaction; one that fails or panics leaves nothing behind.
fn one(db: &Connection, work: Work) -> rusqlite::Result<Option<Answer>> {
    db.prepare_cached("SAVEPOINT one")?.execute([])?;
    let answer = catch_unwind(AssertUnwindSafe(|| work(db))).ok().flatten();
    if answer.is_none() {
        db.prepare_cached("ROLLBACK TO one")?.execute([])?;
    }
    db.prepare_cached("RELEASE one")?.execute([])?;
    Ok(answer)
}
