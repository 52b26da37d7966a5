//! The log of a session as it lies on disk: what tests of other rooms look at, whatever the endpoints make of it.

use crate::lab::Lab;
use serde_json::{Value, json};
use std::path::Path;

/// Every event of a session whose kind begins with one of `kinds`; all where there are none.
pub fn read(lab: &Lab, session: &str, kinds: &[&str]) -> Vec<Value> {
    at(lab.server.base().parent().unwrap(), session, kinds)
}

/// The same of a server whose state lies in `dir`.
pub fn at(dir: &Path, session: &str, kinds: &[&str]) -> Vec<Value> {
    let database = dir.join("state/agents/agents.db");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = rusqlite::Connection::open_with_flags(database, flags).unwrap();
    let mut query = db
        .prepare(
            "SELECT seq, kind, turn_id, data FROM events
             WHERE session = (SELECT no FROM sessions WHERE session_id = ?1) ORDER BY seq",
        )
        .unwrap();
    let rows = query.query_map([session], |row| {
        let data: String = row.get(3)?;
        Ok(json!({
            "seq": row.get::<_, i64>(0)?, "kind": row.get::<_, String>(1)?,
            "turn_id": row.get::<_, Option<String>>(2)?, "data": serde_json::from_str::<Value>(&data).unwrap(),
        }))
    });
    let of_kind = |event: &Value| {
        let kind = event["kind"].as_str().unwrap();
        kinds.is_empty() || kinds.iter().any(|wanted| kind.starts_with(wanted))
    };
    rows.unwrap().map(Result::unwrap).filter(of_kind).collect()
}

/// Their kinds.
pub fn kinds(lab: &Lab, session: &str, kinds: &[&str]) -> Vec<String> {
    read(lab, session, kinds).iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}
