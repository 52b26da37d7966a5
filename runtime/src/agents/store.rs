//! The database of the agents group: SQLite in WAL mode, every commit on disk before it is answered.
//!
//! - [`Place`]: the folder, and who may have it
//! - `migrations`: the tables, one file a family
//! - `writer`: the one thread that writes; many writes share one commit
//! - `readers`: connections for reading, none of which waits for the writer
//! - [`sessions`], [`turns`]: rows that several modules read
//! - [`page`]: limits and cursors of lists
//!
//! ```text
//! let store = app.agents.store().await?;
//! let title = store.read(|db| sessions::find(db, &id)).await?;
//! store.write(move |db| sessions::insert(db, &row)).await?;
//! ```
//!
//! A closure that fails leaves nothing behind, whatever it had written; the others of its commit stand.

mod error;
mod migrations;
mod place;
mod readers;
mod writer;

pub mod page;
pub mod sessions;
pub mod turns;

pub use error::StoreError;
pub use place::Place;

use readers::Readers;
use rusqlite::Connection;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use writer::Writer;

/// The open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    writer: Writer,
    readers: Readers,
    place: Place,
    /// Counts commits and closures that came to nothing, so that who remembers what it wrote can forget it.
    lost: Arc<AtomicU64>,
    /// Keeps every other server out.
    _lock: place::Lock,
}

impl Store {
    /// Opens the database, making folder and tables where they are missing.
    ///
    /// # Errors
    /// That the folder cannot be had, that another server has it, or that the database is of a later version.
    pub async fn open(place: Place) -> Result<Self, StoreError> {
        let opened = tokio::task::spawn_blocking(move || Self::open_now(place)).await;
        opened.map_err(|_| StoreError::Stopped)?
    }

    /// The same, on this thread.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_now(place: Place) -> Result<Self, StoreError> {
        let lock = place.claim()?;
        let mut db = Connection::open(place.database())?;
        place.seal()?;
        writer::prepare(&db)?;
        migrations::apply(&mut db)?;
        let lost = Arc::<AtomicU64>::default();
        let readers = Readers::new(place.database());
        let writer = Writer::start(db, Arc::clone(&lost))?;
        Ok(Self(Arc::new(Inner { writer, readers, place, lost, _lock: lock })))
    }

    /// Runs `work` on the writing connection. Its place in the order is taken when this is called, not when the answer
    /// is awaited; the answer comes when what it wrote is on disk.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        self.write_then(work, |_| {})
    }

    /// The same; once it is on disk, and before the answer, `then` runs on the writing thread, in the order of writes.
    pub fn write_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        self.0.writer.send(work, then)
    }

    /// Runs `work` on a connection that can only read, on a thread that may block.
    pub fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'static {
        self.0.readers.run(work)
    }

    /// Where the database is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Rises whenever something that was written came to nothing.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Acquire)
    }
}

/// The time, in epoch seconds.
#[must_use]
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests;
