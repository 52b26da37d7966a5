//! Deleting a session with everything that is kept of it.

use super::Log;
use crate::agents::artifacts;
use crate::agents::store::{StoreError, sessions};
use rusqlite::Connection;

impl Log {
    /// Deletes a session: turns, events, items, artifacts and what else refers to it. Followers end. Yields about how many
    /// bytes that freed, or `None` where there is no such session.
    ///
    /// # Errors
    /// Those of the store; then it is still there.
    pub async fn delete(&self, session_id: &str) -> Result<Option<u64>, StoreError> {
        let name = session_id.to_owned();
        let deleted = self.0.store.write(move |db| delete(db, &name)).await?;
        let Some((log_bytes, hashes)) = deleted else { return Ok(None) };
        self.forget(session_id);
        let place = self.0.store.place().clone();
        // The rows are gone: bytes that are left behind cost space, nothing else.
        let freed =
            tokio::task::spawn_blocking(move || artifacts::remove(&place, &hashes)).await.unwrap_or(0);
        Ok(Some(freed + u64::try_from(log_bytes).unwrap_or(0)))
    }
}

fn delete(db: &Connection, session_id: &str) -> rusqlite::Result<Option<(i64, Vec<String>)>> {
    let Some(session) = sessions::number(db, session_id)? else { return Ok(None) };
    let bytes = db
        .prepare_cached(
            "SELECT log_bytes + (SELECT coalesce(sum(length(CAST(text AS BLOB)) + length(CAST(body AS BLOB))), 0)
                FROM items WHERE session = ?1) FROM sessions WHERE no = ?1",
        )?
        .query_row([session], |row| row.get(0))?;
    // Bytes that no other session has.
    let mut query = db.prepare_cached(
        "SELECT DISTINCT sha256 FROM artifacts WHERE session = ?1
            AND sha256 NOT IN (SELECT sha256 FROM artifacts WHERE session != ?1)",
    )?;
    let hashes = query.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    db.prepare_cached("DELETE FROM sessions WHERE no = ?1")?.execute([session])?;
    db.execute_batch("PRAGMA incremental_vacuum(20000)")?;
    Ok(Some((bytes, hashes)))
}
