//! List turns, queued ones included.
//!
//! # Request
//! Query: `state`, `limit`, `cursor`.
//!
//! # Response
//! `{"turns", "next_cursor"}`, the oldest first, queued ones included.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 400 `invalid_parameter`, `invalid_cursor`; 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/turns?state=queued
//! ```

use super::talking;
use crate::agents::turns::rows::{Filter, list};
use crate::agents::turns::{STATES, view};
use crate::endpoint::{Answer, Call, Reply};
use serde_json::{Value, json};

const LIST: &str = "turns";

pub(crate) async fn call(call: Call) -> Answer {
    let page = talking::page(&call, LIST)?;
    let filter = Filter { state: talking::word(&call, "state", &STATES)?, after: page.after_number()? };
    let session = talking::session(&call).await?.no;
    let most = page.fetch();
    let rows = call.app().agents.store().await?.read(move |db| {
        let rows = list(db, session, &filter, most)?;
        rows.into_iter().map(|row| Ok((view::usage(db, &row)?, row))).collect::<rusqlite::Result<Vec<_>>>()
    });
    let mut rows = rows.await?;
    let next = page.next(LIST, &mut rows, |(_, row)| row.no.to_string());
    let turns: Vec<Value> = rows.into_iter().map(|(usage, row)| view::brief(&row, usage)).collect();
    Ok(Reply::ok(&json!({"turns": turns, "next_cursor": next})))
}
