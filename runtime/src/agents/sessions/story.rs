//! What was said and done in a session, read from its transcript for a digest.

use super::digest::{self, MOST, Said};
use crate::agents::store::StoreError;
use crate::app::App;
use rusqlite::Connection;

/// Items that are looked at, from the newest.
const ITEMS: i64 = 500;

/// The digest of a session, up to the event `until` where one is given. Empty where nothing was said.
///
/// # Errors
/// Those of the store.
pub async fn digest(app: &App, session: i64, until: Option<i64>) -> Result<String, StoreError> {
    let said = app.agents.store().await?.read(move |db| said(db, session, until)).await?;
    Ok(digest::digest(&said, MOST))
}

fn said(db: &Connection, session: i64, until: Option<i64>) -> rusqlite::Result<Vec<Said>> {
    let mut query = db.prepare_cached(
        "SELECT kind, title, status,
            text || coalesce((SELECT group_concat(item_parts.text, '') FROM item_parts WHERE item = items.no), '')
         FROM items WHERE session = ?1 AND first_seq <= ?2 AND kind IN ('user_message', 'agent_message', 'tool_call')
         ORDER BY first_seq DESC LIMIT ?3",
    )?;
    let rows = query.query_map((session, until.unwrap_or(i64::MAX), ITEMS), |row| {
        let (kind, title, status, text): (String, Option<String>, Option<String>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(match kind.as_str() {
            "user_message" => Said { who: "user", text },
            "agent_message" => Said { who: "agent", text },
            _ => {
                let status = status.unwrap_or_else(|| "unsettled".to_owned());
                Said { who: "tool", text: format!("{} ({status})", title.unwrap_or_default()) }
            }
        })
    })?;
    let mut said: Vec<Said> = rows.collect::<rusqlite::Result<_>>()?;
    said.reverse();
    Ok(said)
}
