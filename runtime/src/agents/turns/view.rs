//! A turn as callers see it.

use super::super::requests::rows as requests;
use super::super::store::turns::TurnRow;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Bytes of the text of a turn that are shown; all of it is in its items.
const MOST_TEXT: usize = 1 << 20;

/// The members that lists show.
#[must_use]
pub fn brief(row: &TurnRow, usage: Option<Value>) -> Value {
    let mut view = json!({
        "turn_id": row.turn_id, "state": row.state, "prompt_preview": row.prompt_preview,
        "queued_at": row.queued_at,
    });
    if let Some(view) = view.as_object_mut() {
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                view.insert(name.to_owned(), value);
            }
        };
        add("stop_reason", row.stop_reason.clone().map(Value::from));
        add("started_at", row.started_at.map(Value::from));
        add("ended_at", row.ended_at.map(Value::from));
        add("usage", usage);
        add("checkpoint_before", row.checkpoint_before.clone().map(Value::from));
        add("schedule_id", row.schedule_id.clone().map(Value::from));
        add("forced", row.details.get("forced").cloned());
        add("retry_of", row.details.get("retry_of").cloned());
    }
    view
}

/// Everything about a turn but what it changed on disk. `content` shows what tool calls carry.
///
/// # Errors
/// Those of the database.
pub fn whole(db: &Connection, session_id: &str, row: &TurnRow, content: bool) -> rusqlite::Result<Value> {
    let mut view = brief(row, None);
    let filter = requests::Filter {
        session_id: Some(session_id.to_owned()),
        turn_id: Some(row.turn_id.clone()),
        state: Some("pending".to_owned()),
        ..requests::Filter::default()
    };
    let pending: Vec<Value> =
        requests::list(db, &filter, 200)?.iter().map(|request| request.view(content)).collect();
    let text = text(db, row)?;
    let calls = tool_calls(db, row)?;
    let usage = usage(db, row)?;
    if let Some(view) = view.as_object_mut() {
        let mut put = |name: &str, value: Value| drop(view.insert(name.to_owned(), value));
        put("session_id", session_id.into());
        put("text", text.into());
        put("error", row.error.clone().unwrap_or_default());
        put("usage", usage.unwrap_or_default());
        put("tool_calls", json!(calls));
        put("pending_requests", pending.into());
        put("first_seq", json!(row.first_seq));
        put("last_seq", json!(row.last_seq));
        put("stop_reason", json!(row.stop_reason));
    }
    Ok(view)
}

/// What the agent said in a turn, its messages one after the other.
///
/// # Errors
/// Those of the database.
pub fn text(db: &Connection, row: &TurnRow) -> rusqlite::Result<String> {
    let mut query = db.prepare_cached(
        "SELECT text || coalesce((
            SELECT group_concat(text, '') FROM (SELECT text FROM item_parts WHERE item = items.no ORDER BY part)
         ), '') FROM items WHERE session = ?1 AND turn_id = ?2 AND kind = 'agent_message' ORDER BY first_seq",
    )?;
    let mut out = String::new();
    for said in query.query_map((row.session, &row.turn_id), |row| row.get::<_, String>(0))? {
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(&said?);
        if out.len() > MOST_TEXT {
            let end = (0..=MOST_TEXT).rev().find(|end| out.is_char_boundary(*end)).unwrap_or(0);
            out.truncate(end);
            break;
        }
    }
    Ok(out)
}

fn tool_calls(db: &Connection, row: &TurnRow) -> rusqlite::Result<BTreeMap<String, i64>> {
    let mut query = db.prepare_cached(
        "SELECT coalesce(status, 'pending'), count(*) FROM items
         WHERE session = ?1 AND turn_id = ?2 AND kind = 'tool_call' GROUP BY 1",
    )?;
    query.query_map((row.session, &row.turn_id), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

const COUNTS: [&str; 5] =
    ["input_tokens", "output_tokens", "thought_tokens", "cached_read_tokens", "cached_write_tokens"];

/// What a turn used, where its agent says.
///
/// # Errors
/// Those of the database.
pub fn usage(db: &Connection, row: &TurnRow) -> rusqlite::Result<Option<Value>> {
    db.prepare_cached(
        "SELECT *, max(cost_total - cost_before, 0) AS cost FROM usage WHERE session = ?1 AND turn_id = ?2",
    )?
    .query_row((row.session, &row.turn_id), read)
    .optional()
    .map(Option::flatten)
}

/// What a session used in all of its turns.
///
/// # Errors
/// Those of the database.
pub fn usage_of_session(db: &Connection, session: i64) -> rusqlite::Result<Value> {
    let sums = COUNTS.map(|name| format!("sum({name}) AS {name}")).join(", ");
    let sql = format!(
        "SELECT {sums}, sum(max(cost_total - cost_before, 0)) AS cost, max(currency) AS currency,
            (SELECT context_used FROM usage WHERE session = ?1 AND context_used IS NOT NULL ORDER BY at DESC LIMIT 1)
                AS context_used,
            (SELECT context_size FROM usage WHERE session = ?1 AND context_size IS NOT NULL ORDER BY at DESC LIMIT 1)
                AS context_size
         FROM usage WHERE session = ?1"
    );
    db.prepare_cached(&sql)?.query_row([session], read).map(Option::unwrap_or_default)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<Value>> {
    let mut usage = Map::new();
    for name in COUNTS {
        if let Some(count) = row.get::<_, Option<i64>>(name)? {
            usage.insert(name.to_owned(), count.into());
        }
    }
    let (cost, currency): (Option<f64>, Option<String>) = (row.get("cost")?, row.get("currency")?);
    if let (Some(cost), Some(currency)) = (cost, currency) {
        usage.insert("cost".to_owned(), json!({"amount": cost, "currency": currency}));
    }
    let (used, size): (Option<i64>, Option<i64>) = (row.get("context_used")?, row.get("context_size")?);
    if let Some(used) = used {
        usage.insert("context".to_owned(), json!({"used": used, "size": size}));
    }
    Ok((!usage.is_empty()).then(|| usage.into()))
}
