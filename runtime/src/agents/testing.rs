//! A store of its own for each unit test.

use super::ids;
use super::log::{Bounds, Kind, Log, NewEvent};
use super::store::{Place, Store, now, sessions};
use serde_json::json;
use std::time::Duration;
use tempfile::TempDir;

/// A store in a folder that goes with it.
pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) log: Log,
    _dir: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Bounds::default())
    }

    pub(crate) fn with(bounds: Bounds) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
        let store = Store::open_now(place).unwrap();
        Self { log: Log::new(store.clone(), bounds), store, _dir: dir }
    }

    /// A new session.
    pub(crate) async fn session(&self) -> String {
        Self::insert(&self.store).await
    }

    pub(crate) async fn insert(store: &Store) -> String {
        let row = sessions::SessionRow {
            session_id: ids::new(ids::SESSION),
            agent_id: "scripted".to_owned(),
            owner: "anonymous".to_owned(),
            state: "idle".to_owned(),
            cwd: "/work".to_owned(),
            created_at: now(),
            updated_at: now(),
            ..Default::default()
        };
        let id = row.session_id.clone();
        store.write(move |db| sessions::insert(db, &row)).await.unwrap();
        id
    }

    /// Waits until the log of a session is within its bounds.
    pub(crate) async fn trimmed(&self, session_id: &str) {
        for _ in 0..500 {
            let name = session_id.to_owned();
            let count = self.store.read(move |db| {
                db.query_row("SELECT log_events FROM sessions WHERE session_id = ?1", [name], |row| {
                    row.get::<_, i64>(0)
                })
            });
            if count.await.unwrap() <= 360 && self.log.is_still() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the log was not trimmed");
    }
}

/// A chunk of text.
pub(crate) fn chunk(role: &str, text: &str) -> NewEvent {
    NewEvent::new(Kind::MessageChunk, json!({"role": role, "content": {"type": "text", "text": text}}))
}
