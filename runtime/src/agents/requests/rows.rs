//! Requests in the store. They outlive the call of the client that waits for them, and the agent that asked.

use super::super::store::sessions::{json, object, text};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use serde_json::{Map, Value, json};

/// A request as it is stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestRow {
    /// Its number: requests are listed by it.
    pub no: i64,
    /// `req_…`
    pub request_id: String,
    /// The number of its session.
    pub session: i64,
    /// The id of its session.
    pub session_id: String,
    /// The turn that it holds up.
    pub turn_id: Option<String>,
    /// `permission` or `question`.
    pub kind: String,
    /// `pending`, `answered`, `cancelled`, `expired` or `lost`.
    pub state: String,
    /// What it is about.
    pub title: String,
    /// The agent's id of the tool call.
    pub tool_call_id: Option<String>,
    /// The item of the tool call, where there is one yet.
    pub item_id: Option<String>,
    /// The rest: tool kind and input, diffs, options; message, schema and URL.
    pub body: Map<String, Value>,
    /// Epoch seconds.
    pub opened_at: f64,
    /// Epoch seconds.
    pub expires_at: Option<f64>,
    /// What it was answered.
    pub answer: Option<Value>,
    /// By whom: an identity, `rule:<id>` or `policy`.
    pub answered_by: Option<String>,
    /// Epoch seconds.
    pub answered_at: Option<f64>,
}

/// Which requests a list shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this state.
    pub state: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Of this session.
    pub session_id: Option<String>,
    /// This one.
    pub request_id: Option<String>,
    /// Of this turn.
    pub turn_id: Option<String>,
    /// Behind this number.
    pub after: Option<i64>,
}

const SELECT: &str = "SELECT requests.*, sessions.session_id AS session_id, (
        SELECT item_id FROM items
        WHERE items.session = requests.session AND items.kind = 'tool_call' AND items.key = requests.tool_call_id
        ORDER BY items.no DESC LIMIT 1
    ) AS item_id
    FROM requests JOIN sessions ON sessions.no = requests.session";

impl RequestRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get("no")?,
            request_id: row.get("request_id")?,
            session: row.get("session")?,
            session_id: row.get("session_id")?,
            turn_id: row.get("turn_id")?,
            kind: row.get("kind")?,
            state: row.get("state")?,
            title: row.get("title")?,
            tool_call_id: row.get("tool_call_id")?,
            item_id: row.get("item_id")?,
            body: object(row, "body")?,
            opened_at: row.get("opened_at")?,
            expires_at: row.get("expires_at")?,
            answer: json(row, "answer")?,
            answered_by: row.get("answered_by")?,
            answered_at: row.get("answered_at")?,
        })
    }

    /// As callers see it. Without `content`, file content, diffs and tool input are left out.
    #[must_use]
    pub fn view(&self, content: bool) -> Value {
        let mut view = json!({
            "request_id": self.request_id, "kind": self.kind, "session_id": self.session_id,
            "turn_id": self.turn_id, "state": self.state, "title": self.title, "opened_at": self.opened_at,
        });
        if let Some(view) = view.as_object_mut() {
            for (name, value) in &self.body {
                if content || !matches!(name.as_str(), "raw_input" | "diffs") {
                    view.insert(name.clone(), value.clone());
                }
            }
            let mut add = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    view.insert(name.to_owned(), value);
                }
            };
            add("item_id", self.item_id.clone().map(Value::from));
            add("expires_at", self.expires_at.map(Value::from));
            add("answer", self.answer.clone());
            add("answered_by", self.answered_by.clone().map(Value::from));
            add("answered_at", self.answered_at.map(Value::from));
        }
        view
    }
}

/// Stores a new request.
///
/// # Errors
/// Those of the database.
pub fn insert(db: &Connection, row: &RequestRow) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO requests (request_id, session, turn_id, kind, state, title, tool_call_id, body, opened_at,
            expires_at, answer, answered_by, answered_at)
         VALUES (:request_id, :session, :turn_id, :kind, :state, :title, :tool_call_id, :body, :opened_at,
            :expires_at, :answer, :answered_by, :answered_at)",
    )?
    .execute(named_params! {
        ":request_id": row.request_id,
        ":session": row.session,
        ":turn_id": row.turn_id,
        ":kind": row.kind,
        ":state": row.state,
        ":title": row.title,
        ":tool_call_id": row.tool_call_id,
        ":body": text(&row.body),
        ":opened_at": row.opened_at,
        ":expires_at": row.expires_at,
        ":answer": row.answer.as_ref().map(Value::to_string),
        ":answered_by": row.answered_by,
        ":answered_at": row.answered_at,
    })?;
    Ok(())
}

/// Ends a request that is pending; whether it was.
///
/// # Errors
/// Those of the database.
pub fn resolve(
    db: &Connection,
    request_id: &str,
    state: &str,
    answer: Option<&Value>,
    by: Option<&str>,
    at: f64,
) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE requests SET state = ?2, answer = ?3, answered_by = ?4, answered_at = ?5, expires_at = NULL
             WHERE request_id = ?1 AND state = 'pending'",
        )?
        .execute((request_id, state, answer.map(Value::to_string), by, at))?;
    Ok(changed > 0)
}

/// Changes when a pending request expires.
///
/// # Errors
/// Those of the database.
pub fn expire_at(db: &Connection, request_id: &str, at: Option<f64>) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE requests SET expires_at = ?2 WHERE request_id = ?1 AND state = 'pending'")?
        .execute((request_id, at))?;
    Ok(())
}

/// A request by its id.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, request_id: &str) -> rusqlite::Result<Option<RequestRow>> {
    let sql = format!("{SELECT} WHERE request_id = ?1");
    db.prepare_cached(&sql)?.query_row([request_id], RequestRow::read).optional()
}

/// Requests, the oldest first, at most `most`.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection, filter: &Filter, most: i64) -> rusqlite::Result<Vec<RequestRow>> {
    let sql = format!(
        "{SELECT} WHERE (:state IS NULL OR requests.state = :state) AND (:kind IS NULL OR requests.kind = :kind)
            AND (:session_id IS NULL OR sessions.session_id = :session_id)
            AND (:request_id IS NULL OR requests.request_id = :request_id)
            AND (:turn_id IS NULL OR requests.turn_id = :turn_id)
            AND requests.no > :after ORDER BY requests.no LIMIT :most"
    );
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map(
        named_params! {
            ":state": filter.state,
            ":kind": filter.kind,
            ":session_id": filter.session_id,
            ":request_id": filter.request_id,
            ":turn_id": filter.turn_id,
            ":after": filter.after.unwrap_or(0),
            ":most": most,
        },
        RequestRow::read,
    )?;
    rows.collect()
}
