//! Commands that a caller can come back to by an id of its own choosing: started once however often they are asked
//! for, ended when nobody has been attached for too long, and kept for a while after their end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::exit::Reason;
use super::job::{Job, Owner};
use super::ring::Stream;
use super::text::{Decoder, Lane};

/// How long a command may run with nobody attached, where the caller does not say.
pub const IDLE: Duration = Duration::from_secs(300);

/// How long an ended command is kept, where the caller does not say.
pub const KEPT: Duration = Duration::from_secs(600);

/// Commands that one owner may have, ended ones included.
pub const MAX_COMMANDS: usize = 256;

/// How long a command waits: for somebody to attach, and for being forgotten. `None`: for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until a command with nobody attached is ended.
    pub idle: Option<Duration>,
    /// Until an ended command is forgotten.
    pub kept: Option<Duration>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Resumable {
    commands: Mutex<HashMap<(Owner, String), Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    job: Arc<Job>,
    attached: Arc<watch::Sender<usize>>,
    readers: Arc<Mutex<Readers>>,
}

/// Readers that acknowledge while they read, and how far each is: the slowest says what is freed. One that has gone
/// silent is found out by its transport, so that it cannot hold up the others for long.
#[derive(Debug, Default)]
struct Readers {
    next: u64,
    safe: HashMap<u64, [u64; 2]>,
    /// The count as text of what has been freed.
    text: [Lane; 2],
}

/// Somebody who reads a command. While one exists the command is not idle.
#[derive(Debug)]
pub struct Attachment {
    /// The command.
    pub job: Arc<Job>,
    attached: Arc<watch::Sender<usize>>,
    readers: Arc<Mutex<Readers>>,
    id: u64,
}

/// A place in the output counted as text: where to read from, and what turns the bytes into text.
#[derive(Debug)]
pub struct TextPlace {
    /// Byte offsets from which to read.
    pub from: [u64; 2],
    /// One for each stream.
    pub decoders: [Decoder; 2],
}

/// Why a command was not started.
#[derive(Debug)]
pub enum StartError<E> {
    /// The owner has as many as may be kept.
    TooMany,
    /// It could not be started.
    Failed(E),
}

impl Resumable {
    /// The command of that id, started by `start` unless it exists: any number of callers at once get one process.
    ///
    /// # Errors
    /// What `start` says, or that there are too many.
    pub fn get_or_start<E>(
        self: &Arc<Self>,
        owner: &Owner,
        id: &str,
        patience: Patience,
        start: impl FnOnce() -> Result<Arc<Job>, E>,
    ) -> Result<Attachment, StartError<E>> {
        let mut commands = self.lock();
        if let Some(entry) = commands.get(&(Arc::clone(owner), id.to_owned())) {
            return Ok(entry.attach());
        }
        if commands.keys().filter(|(who, _)| who == owner).count() >= MAX_COMMANDS {
            return Err(StartError::TooMany);
        }
        // Within the lock: starting takes well under a millisecond, and whoever asks meanwhile must find it.
        let job = start().map_err(StartError::Failed)?;
        let entry = Entry { job, attached: Arc::new(watch::Sender::new(0)), readers: Arc::default() };
        let attachment = entry.attach();
        let key = (Arc::clone(owner), id.to_owned());
        commands.insert(key.clone(), entry.clone());
        drop(commands);
        tokio::spawn(watch_over(Arc::downgrade(self), key, entry, patience));
        Ok(attachment)
    }

    /// The command of that id: this owner's, or else the only one of those whose owner is `visible` to the caller.
    #[must_use]
    pub fn attach(&self, owner: &Owner, id: &str, visible: impl Fn(&Owner) -> bool) -> Option<Attachment> {
        let commands = self.lock();
        if let Some(own) = commands.get(&(Arc::clone(owner), id.to_owned())) {
            return Some(own.attach());
        }
        let mut others = commands.iter().filter(|((who, named), _)| named == id && visible(who));
        let (other, more) = (others.next(), others.next());
        other.filter(|_| more.is_none()).map(|(_, entry)| entry.attach())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Owner, String), Entry>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn attach(&self) -> Attachment {
        self.attached.send_modify(|count| *count += 1);
        let (job, attached) = (Arc::clone(&self.job), Arc::clone(&self.attached));
        let mut readers = lock(&self.readers);
        readers.next += 1;
        let id = readers.next;
        Attachment { job, attached, readers: Arc::clone(&self.readers), id }
    }
}

impl Attachment {
    /// Takes the caller's word that everything before these offsets has been taken care of, and frees it.
    pub fn acknowledge(&self, offsets: [u64; 2]) {
        lock(&self.readers).free(&self.job, offsets);
    }

    /// Says how far a reader is whose acknowledgements come while it reads. Nothing is freed before the command would
    /// have to wait, so that a short output can be read again from its beginning.
    pub fn may_free(&self, offsets: [u64; 2]) {
        let mut readers = lock(&self.readers);
        readers.safe.insert(self.id, offsets);
        readers.free_if_low(&self.job);
    }

    /// The place at these offsets of the text.
    ///
    /// # Errors
    /// The stream whose end lies before its offset.
    pub fn text_place(&self, offsets: [u64; 2]) -> Result<TextPlace, Stream> {
        let readers = lock(&self.readers);
        let ended = self.job.exit().is_some();
        let log = self.job.log();
        let seek = |stream: Stream, lane: &Lane, offset| {
            let (_, kept) = log.slice(stream, log.first(stream), usize::MAX);
            lane.seek(offset, &kept, ended).ok_or(stream)
        };
        let ([out, err], [stdout, stderr]) = (&readers.text, offsets);
        let (out, out_from) = seek(Stream::Stdout, out, stdout)?;
        let (err, err_from) = seek(Stream::Stderr, err, stderr)?;
        Ok(TextPlace { from: [out_from, err_from], decoders: [out, err] })
    }
}

impl Readers {
    fn free_if_low(&mut self, job: &Job) {
        let low = {
            let log = job.log();
            [Stream::Stdout, Stream::Stderr].iter().any(|stream| log.room(*stream) < log.capacity() / 4)
        };
        let slowest = self.safe.values().copied().reduce(|[a, b], [c, d]| [a.min(c), b.min(d)]);
        if let Some(offsets) = slowest.filter(|_| low) {
            self.free(job, offsets);
        }
    }

    /// Frees what lies before these offsets, and counts it as text for the last time.
    fn free(&mut self, job: &Job, offsets: [u64; 2]) {
        let mut log = job.log();
        for ((stream, lane), offset) in
            [Stream::Stdout, Stream::Stderr].into_iter().zip(&mut self.text).zip(offsets)
        {
            let first = log.first(stream);
            let freed = usize::try_from(offset.min(log.end(stream)).saturating_sub(first)).unwrap_or(0);
            for piece in log.pieces(stream, first, freed) {
                lane.advance(piece);
            }
        }
        if log.acknowledge(offsets) {
            job.room.notify_one();
        }
    }
}

fn lock(readers: &Mutex<Readers>) -> MutexGuard<'_, Readers> {
    readers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut readers = lock(&self.readers);
        readers.safe.remove(&self.id);
        // Whoever is left may have waited for this one.
        readers.free_if_low(&self.job);
        drop(readers);
        self.attached.send_modify(|count| *count -= 1);
    }
}

/// Ends the command when it has been idle for too long, and forgets it when it has been kept for long enough.
async fn watch_over(
    home: std::sync::Weak<Resumable>,
    key: (Owner, String),
    entry: Entry,
    patience: Patience,
) {
    let Entry { job, attached, .. } = entry;
    tokio::select! {
        _ = job.ended() => {}
        () = idle_for(&attached, patience.idle) => {
            job.end(Reason::Idle);
            job.ended().await;
        }
    }
    match patience.kept {
        Some(time) => tokio::time::sleep(time).await,
        None => return,
    }
    if let Some(home) = home.upgrade() {
        home.lock().remove(&key);
    }
}

/// Waits until nobody has been attached for `time` without a break.
pub(crate) async fn idle_for(attached: &watch::Sender<usize>, time: Option<Duration>) {
    let Some(time) = time else { return std::future::pending().await };
    let mut changes = attached.subscribe();
    loop {
        // The sender is borrowed for as long as this runs, so waiting cannot fail.
        let _ = changes.wait_for(|count| *count == 0).await;
        let somebody = changes.wait_for(|count| *count > 0);
        if tokio::time::timeout(time, somebody).await.is_err() {
            return;
        }
    }
}
