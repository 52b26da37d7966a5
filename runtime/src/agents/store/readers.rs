//! Connections that only read, lent to one closure each. In WAL mode none of them waits for the writer.

use super::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most reads at once: more would only share the same two cores.
const MOST: usize = 8;

/// The connections that nobody uses now.
#[derive(Debug)]
pub(super) struct Readers {
    path: Arc<PathBuf>,
    free: Arc<Mutex<Vec<Connection>>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: Arc::new(path), free: Arc::default(), turns: Arc::new(Semaphore::new(MOST)) }
    }

    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        let (path, free, turns) = (Arc::clone(&self.path), Arc::clone(&self.free), Arc::clone(&self.turns));
        async move {
            let turn = turns.acquire_owned().await.map_err(|_| StoreError::Stopped)?;
            let read = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let held = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let db = held.map_or_else(|| connect(&path), Ok)?;
                // A transaction of its own: all that the closure reads is of one moment.
                let seen = db.unchecked_transaction()?;
                let value = work(&seen)?;
                seen.commit()?;
                free.lock().unwrap_or_else(PoisonError::into_inner).push(db);
                Ok(value)
            });
            // A closure that panicked is no answer.
            read.await.map_err(|_| StoreError::Stopped)?
        }
    }
}

fn connect(path: &PathBuf) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;")?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}
