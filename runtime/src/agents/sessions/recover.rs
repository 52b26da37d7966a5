//! What a start does about sessions that were live when the last server ended: turns that ran are `interrupted`, what they
//! asked is `lost`, their sessions are `disconnected`. Turns that waited wait on.

use crate::agents::log::{Kind, Log, NewEvent};
use crate::agents::requests::rows::{self as requests, Filter};
use crate::agents::store::sessions::{self, SessionRow};
use crate::agents::store::{Store, StoreError, now};
use crate::agents::turns::{self, rows};
use serde_json::json;

/// Marks what was cut off. To be run before anything else touches the store.
///
/// # Errors
/// Those of the store.
pub async fn recover(store: &Store, log: &Log) -> Result<(), StoreError> {
    let cut = store.read(|db| {
        let sql = format!(
            "SELECT {} FROM sessions WHERE state IN ('starting', 'idle', 'running', 'waiting')
                OR no IN (SELECT session FROM turns WHERE state IN ('running', 'waiting'))
                OR no IN (SELECT session FROM requests WHERE state = 'pending')",
            sessions::COLUMNS
        );
        let mut query = db.prepare(&sql)?;
        query.query_map([], SessionRow::read)?.collect::<rusqlite::Result<Vec<_>>>()
    });
    for row in cut.await? {
        one(store, log, row).await?;
    }
    Ok(())
}

async fn one(store: &Store, log: &Log, mut row: SessionRow) -> Result<(), StoreError> {
    let (session, session_id) = (row.no, row.session_id.clone());
    let name = session_id.clone();
    let (running, pending) = store
        .read(move |db| {
            let filter =
                Filter { session_id: Some(name), state: Some("pending".to_owned()), ..Filter::default() };
            Ok((rows::unfinished(db, session)?, requests::list(db, &filter, i64::MAX)?))
        })
        .await?;
    let mut events = Vec::new();
    for request in &pending {
        let kind = if request.kind == "question" { Kind::QuestionResolved } else { Kind::PermissionResolved };
        let data =
            json!({"request_id": request.request_id, "state": "lost", "answer": null, "answered_by": null});
        let event = NewEvent::new(kind, data);
        events.push(match &request.turn_id {
            Some(turn_id) => event.turn(turn_id.clone()),
            None => event,
        });
    }
    for turn_id in &running {
        let data = json!({"turn_id": turn_id, "state": turns::INTERRUPTED, "stop_reason": "server_restart"});
        events.push(NewEvent::new(Kind::TurnInterrupted, data).turn(turn_id.clone()));
    }
    // A session that never came up, came up never.
    let state = match row.state.as_str() {
        "starting" if row.native_session_id.is_none() => "failed",
        "closed" | "failed" => row.state.as_str(),
        _ => "disconnected",
    };
    if state != row.state {
        events.push(NewEvent::new(Kind::SessionState, json!({"state": state, "previous": row.state})));
    }
    row.state = state.to_owned();
    row.details.remove("process_id");
    row.updated_at = now();
    let at = row.updated_at;
    let change = move |db: &rusqlite::Connection| {
        for request in &pending {
            requests::resolve(db, &request.request_id, "lost", None, None, at)?;
        }
        let ending = rows::Ending {
            state: turns::INTERRUPTED,
            reason: Some("server_restart".to_owned()),
            error: None,
            at,
            forced: false,
        };
        for turn_id in &running {
            rows::end(db, turn_id, &ending, None)?;
        }
        sessions::update(db, &row).map(|_| ())
    };
    if events.is_empty() {
        return store.write(change).await;
    }
    log.append_with(&session_id, events, change).await.map(|_| ())
}
