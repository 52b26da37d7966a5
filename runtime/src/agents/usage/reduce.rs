//! Events into one row a turn.

use crate::agents::log::Kind;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

/// Takes in what an event says of usage: `usage.updated`, and `usage` of the event that ends a turn.
pub(in crate::agents) fn reduce(
    db: &Connection,
    session: i64,
    turn: Option<&str>,
    kind: Kind,
    data: &Value,
    ts: f64,
) -> rusqlite::Result<()> {
    let (told, last) = match kind {
        Kind::UsageUpdated => (data, false),
        kind if kind.ends_turn() => match data.get("usage").filter(|usage| usage.is_object()) {
            Some(usage) => (usage, true),
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let turn = match turn {
        Some(turn) => turn.to_owned(),
        // Between turns: it is about the last one.
        None => match newest_turn(db, session)? {
            Some(turn) => turn,
            None => return Ok(()),
        },
    };
    open(db, session, &turn, ts)?;
    tokens(db, session, &turn, told, last)?;
    cost(db, session, &turn, told)?;
    context(db, session, &turn, told)
}

fn newest_turn(db: &Connection, session: i64) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT turn_id FROM turns WHERE session = ?1 ORDER BY no DESC LIMIT 1")?
        .query_row([session], |row| row.get(0))
        .optional()
}

/// The row of a turn. What the session had cost before it is what was told last.
fn open(db: &Connection, session: i64, turn: &str, ts: f64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO usage (session, turn_id, at, cost_before) VALUES (?1, ?2, ?3, coalesce(
            (SELECT cost_total FROM usage WHERE session = ?1 AND cost_total IS NOT NULL ORDER BY at DESC LIMIT 1), 0))
         ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
    )?
    .execute(params![session, turn, ts])?;
    Ok(())
}

/// Counts are of one model call each, and add up, until the answer at the end of the turn says the sum.
fn tokens(db: &Connection, session: i64, turn: &str, told: &Value, last: bool) -> rusqlite::Result<()> {
    let count = |name: &str| told.get(name).and_then(Value::as_i64);
    let counts = [
        count("input_tokens"),
        count("output_tokens"),
        count("thought_tokens"),
        count("cached_read_tokens"),
        count("cached_write_tokens"),
    ];
    if counts.iter().all(Option::is_none) {
        return Ok(());
    }
    let [input, output, thought, read, write] = counts;
    let sql = if last {
        "UPDATE usage SET final = 1, input_tokens = ?3, output_tokens = ?4, thought_tokens = ?5, cached_read_tokens = ?6,
            cached_write_tokens = ?7 WHERE session = ?1 AND turn_id = ?2"
    } else {
        "UPDATE usage SET
            input_tokens = CASE WHEN ?3 IS NULL THEN input_tokens ELSE coalesce(input_tokens, 0) + ?3 END,
            output_tokens = CASE WHEN ?4 IS NULL THEN output_tokens ELSE coalesce(output_tokens, 0) + ?4 END,
            thought_tokens = CASE WHEN ?5 IS NULL THEN thought_tokens ELSE coalesce(thought_tokens, 0) + ?5 END,
            cached_read_tokens = CASE WHEN ?6 IS NULL THEN cached_read_tokens ELSE coalesce(cached_read_tokens, 0) + ?6 END,
            cached_write_tokens = CASE WHEN ?7 IS NULL THEN cached_write_tokens ELSE coalesce(cached_write_tokens, 0) + ?7 END
         WHERE session = ?1 AND turn_id = ?2 AND final = 0"
    };
    db.prepare_cached(sql)?.execute(params![session, turn, input, output, thought, read, write])?;
    Ok(())
}

/// The cost is told as the session's sum. One that has shrunk began anew with a new process.
fn cost(db: &Connection, session: i64, turn: &str, told: &Value) -> rusqlite::Result<()> {
    let Some(cost) = told.get("cost") else { return Ok(()) };
    let Some(amount) = cost.get("amount").and_then(Value::as_f64).filter(|amount| amount.is_finite()) else {
        return Ok(());
    };
    let currency = cost.get("currency").and_then(Value::as_str).unwrap_or("USD");
    db.prepare_cached(
        "UPDATE usage SET cost_before = CASE WHEN ?3 < cost_before THEN 0 ELSE cost_before END, cost_total = ?3,
            currency = ?4 WHERE session = ?1 AND turn_id = ?2",
    )?
    .execute(params![session, turn, amount, currency])?;
    Ok(())
}

/// How full the context is: the last word stands, it never adds up.
fn context(db: &Connection, session: i64, turn: &str, told: &Value) -> rusqlite::Result<()> {
    let number = |name: &str| told.get(name).and_then(Value::as_i64);
    if let Some(used) = number("used") {
        db.prepare_cached(
            "UPDATE usage SET context_used = ?3, context_size = coalesce(?4, context_size)
             WHERE session = ?1 AND turn_id = ?2",
        )?
        .execute(params![session, turn, used, number("size")])?;
    }
    Ok(())
}
