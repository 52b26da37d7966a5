//! Commands that a caller can come back to by an id of its own choosing: started once however often they are asked
//! for, ended when nobody has been attached for too long, and kept for a while after their end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::exit::Reason;
use super::job::{Job, Owner};

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
}

/// Somebody who reads a command. While one exists the command is not idle.
#[derive(Debug)]
pub struct Attachment {
    /// The command.
    pub job: Arc<Job>,
    attached: Arc<watch::Sender<usize>>,
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
        let entry = Entry { job, attached: Arc::new(watch::Sender::new(0)) };
        let attachment = entry.attach();
        let key = (Arc::clone(owner), id.to_owned());
        commands.insert(key.clone(), entry.clone());
        drop(commands);
        tokio::spawn(watch_over(Arc::downgrade(self), key, entry, patience));
        Ok(attachment)
    }

    /// The command of that id, if this owner has one.
    #[must_use]
    pub fn attach(&self, owner: &Owner, id: &str) -> Option<Attachment> {
        self.lock().get(&(Arc::clone(owner), id.to_owned())).map(Entry::attach)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Owner, String), Entry>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn attach(&self) -> Attachment {
        self.attached.send_modify(|count| *count += 1);
        Attachment { job: Arc::clone(&self.job), attached: Arc::clone(&self.attached) }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
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
    let Entry { job, attached } = entry;
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
