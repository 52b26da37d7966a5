//! The sessions, who is attached, and when one is given up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::process::resumable::idle_for;
use crate::process::{Engine, Job, Launch, Owner, Reason, SpawnError};

/// How long a session lives with nobody attached.
pub const IDLE: Duration = Duration::from_secs(1800);

/// How long an ended session can still be looked at, and how many at most: each may hold a whole scrollback.
const KEPT: (Duration, usize) = (Duration::from_secs(600), 50);

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    table: Mutex<HashMap<String, Arc<Session>>>,
}

/// One terminal.
#[derive(Debug)]
pub struct Session {
    /// 128 random bits in hex.
    pub id: String,
    /// The shell and its scrollback.
    pub job: Arc<Job>,
    /// Width and height.
    size: Mutex<(u16, u16)>,
    attached: watch::Sender<usize>,
    /// Told when another takes over.
    current: Mutex<Option<CancellationToken>>,
    /// Tells whoever waits to forget it that it is forgotten.
    _gone: DropGuard,
}

/// Somebody who is attached. While one exists the session is not idle.
#[derive(Debug)]
pub struct Attached {
    /// The session.
    pub session: Arc<Session>,
    /// Cancelled when another takes over.
    pub taken: CancellationToken,
}

impl Sessions {
    /// Opens a session of this size.
    ///
    /// # Errors
    /// There are too many, or the shell does not start.
    pub fn open(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        launch: Launch,
        size: (u16, u16),
    ) -> Result<Arc<Session>, SpawnError> {
        let gone = CancellationToken::new();
        let session = Arc::new(Session {
            id: uuid::Uuid::new_v4().simple().to_string(),
            job: engine.spawn(launch)?,
            size: Mutex::new(size),
            attached: watch::Sender::new(0),
            current: Mutex::default(),
            _gone: gone.clone().drop_guard(),
        });
        let mut table = self.lock();
        forget_oldest(&mut table);
        table.insert(session.id.clone(), Arc::clone(&session));
        drop(table);
        let (home, watched) = (Arc::downgrade(self), Arc::clone(&session));
        tokio::spawn(async move {
            tokio::select! {
                _ = watched.job.ended() => {}
                () = idle_for(&watched.attached, Some(IDLE)) => {
                    watched.job.end(Reason::Idle);
                    watched.job.ended().await;
                }
            }
            // From here on the table alone holds it, so that one that is closed is gone at once.
            let id = watched.id.clone();
            drop(watched);
            tokio::select! {
                () = gone.cancelled() => {}
                () = tokio::time::sleep(KEPT.0) => {
                    if let Some(home) = home.upgrade() {
                        home.lock().remove(&id);
                    }
                }
            }
        });
        Ok(session)
    }

    /// The session of that id, if `visible` says that the caller may know of its owner's.
    #[must_use]
    pub fn get(&self, id: &str, visible: impl Fn(&Owner) -> bool) -> Option<Arc<Session>> {
        self.lock().get(id).filter(|session| visible(&session.job.owner)).cloned()
    }

    /// Live sessions, oldest first.
    #[must_use]
    pub fn list(&self, visible: impl Fn(&Owner) -> bool) -> Vec<Arc<Session>> {
        let mut found: Vec<_> =
            self.lock().values().filter(|s| s.alive() && visible(&s.job.owner)).cloned().collect();
        found.sort_by_key(|session| session.job.started);
        found
    }

    /// Ends a session and everything in it, and forgets it.
    pub async fn close(&self, session: &Session) {
        self.lock().remove(&session.id);
        session.job.end(Reason::Delete);
        session.job.ended().await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the sessions that ended first, where too many have.
fn forget_oldest(table: &mut HashMap<String, Arc<Session>>) {
    let ended = table.values().filter_map(|session| Some((session.job.ended_at()?, session.id.clone())));
    let mut ended: Vec<_> = ended.collect();
    ended.sort_unstable();
    let excess = ended.len().saturating_sub(KEPT.1);
    for (_, id) in ended.into_iter().take(excess) {
        table.remove(&id);
    }
}

impl Session {
    /// Whether its shell has not ended.
    #[must_use]
    pub fn alive(&self) -> bool {
        self.job.exit().is_none()
    }

    /// Width and height in characters.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets width and height.
    pub async fn resize(&self, columns: u16, rows: u16) {
        if self.job.resize(columns, rows).await.is_ok() {
            *self.size.lock().unwrap_or_else(PoisonError::into_inner) = (columns, rows);
        }
    }

    /// Whether somebody is attached.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        *self.attached.borrow() > 0
    }

    /// Attaches. Whoever was attached is told to go where the caller `takes_over`; elsewhere nothing comes of it.
    #[must_use]
    pub fn attach(self: &Arc<Self>, takes_over: bool) -> Option<Attached> {
        let taken = CancellationToken::new();
        // Held from the look to the entry, so that of two at once one finds the other.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if !takes_over && self.is_attached() {
            return None;
        }
        if let Some(earlier) = current.replace(taken.clone()) {
            earlier.cancel();
        }
        self.attached.send_modify(|count| *count += 1);
        Some(Attached { session: Arc::clone(self), taken })
    }
}

impl Attached {
    /// Says how far this reader is, unless another has taken over.
    pub fn follow(&self, offset: u64) {
        // Under the lock, so that a reader that was sent away cannot speak for the new one.
        let _current = self.session.current.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.taken.is_cancelled() {
            self.session.job.follow(Some(offset));
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _current = self.session.current.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.taken.is_cancelled() {
            self.session.job.follow(None);
        }
        self.session.attached.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Environment, Full, Kind, Programs, Screen, Setup, Stdin};
    use std::collections::BTreeMap;
    use std::os::fd::{AsFd as _, OwnedFd};

    fn shell(engine: &Engine) -> Launch {
        let directory: OwnedFd = std::fs::File::open("/").unwrap().into();
        Launch {
            program: engine.programs.find("cat", directory.as_fd()).unwrap(),
            title: "cat".to_owned(),
            arguments: vec!["cat".to_owned()],
            environment: engine.environment.block(&BTreeMap::new(), |_| false).unwrap(),
            directory,
            input: Stdin::Open,
            screen: Screen::Terminal { columns: 80, rows: 24 },
            keep: 1 << 20,
            full: Full::DropOldest,
            lifetime: None,
            kind: Kind::Terminal,
            owner: "tester".into(),
        }
    }

    fn engine() -> Arc<Engine> {
        Engine::new(Setup {
            programs: Programs::from_path("/usr/bin:/bin".as_ref()),
            environment: Environment::new([], Vec::new()),
            identity: None,
            max_processes: 1,
            forward: None,
        })
        .unwrap()
    }

    // security 143, runtime 47: on a clock that jumps to the next thing that waits for it.
    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_nobody_was_attached_for_as_long_as_it_may_idle() {
        let engine = engine();
        let sessions = Arc::new(Sessions::default());
        let session = sessions.open(&engine, shell(&engine), (80, 24)).unwrap();
        let attached = session.attach(true);
        tokio::time::sleep(IDLE * 3).await;
        assert!(session.alive(), "somebody is attached");
        drop(attached);
        let left = tokio::time::Instant::now();
        let exit = session.job.ended().await;
        assert_eq!(exit.reason, Some(Reason::Idle));
        assert!(left.elapsed() >= IDLE, "it counts from the last detach: {:?}", left.elapsed());
        assert_eq!(sessions.list(|_| true).len(), 0);
    }

    #[tokio::test]
    async fn a_session_that_is_closed_is_held_by_nothing_and_only_so_many_ended_ones_are_kept() {
        let (engine, sessions) = (engine(), Arc::new(Sessions::default()));
        let closed = sessions.open(&engine, shell(&engine), (80, 24)).unwrap();
        let held = Arc::downgrade(&closed);
        sessions.close(&closed).await;
        drop(closed);
        let until = std::time::Instant::now() + Duration::from_secs(90);
        while held.strong_count() > 0 {
            assert!(std::time::Instant::now() < until, "something holds it still");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let mut ids = Vec::new();
        for _ in 0..KEPT.1 + 3 {
            let session = sessions.open(&engine, shell(&engine), (80, 24)).unwrap();
            session.job.end(Reason::Delete);
            session.job.ended().await;
            ids.push(session.id.clone());
        }
        let known: Vec<bool> = ids.iter().map(|id| sessions.get(id, |_| true).is_some()).collect();
        // The last one is not looked at before the next is opened.
        assert_eq!(known.iter().filter(|known| **known).count(), KEPT.1 + 1);
        assert!(!known[0] && known[2], "the oldest go first: {known:?}");
    }
}
