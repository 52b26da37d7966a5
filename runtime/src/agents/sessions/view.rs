//! A session as callers see it: all from the store, so that it can be looked at with every agent stopped.

use super::details::{Details, Isolation};
use super::state::State;
use crate::agents::options::Options;
use crate::agents::plan;
use crate::agents::requests::rows as requests;
use crate::agents::store::sessions::SessionRow;
use crate::agents::store::turns::TurnRow;
use crate::agents::turns::{self, rows, view as turn_view};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The members that every answer about a session has.
#[must_use]
pub fn summary(row: &SessionRow) -> Value {
    let details = Details::of(row);
    let options = Options::from_value(&details.options);
    let mut view = json!({
        "session_id": row.session_id, "agent_id": row.agent_id, "native_session_id": row.native_session_id,
        "state": row.state, "cwd": row.cwd, "title": row.title, "labels": row.labels,
        "policy": details.policy, "options": options.values(), "capabilities": details.capabilities,
        "additional_directories": details.additional_directories, "archived": row.archived,
        "version": row.version, "created_at": row.created_at, "updated_at": row.updated_at,
        "first_seq": row.first_seq, "last_seq": row.last_seq,
    });
    if let Some(view) = view.as_object_mut() {
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                view.insert(name.to_owned(), value);
            }
        };
        add("parent_id", row.parent_id.clone().map(Value::from));
        add("schedule_id", row.schedule_id.clone().map(Value::from));
        add("closed_at", row.closed_at.map(Value::from));
        add("budget", details.budget.as_ref().map(|budget| json!(budget)));
        add("isolation", (details.isolation == Isolation::Worktree).then(|| "worktree".into()));
        add("origin", details.origin.map(Value::from));
        add("error", details.error);
    }
    view
}

/// Everything about a session. `content` shows what tool calls carry.
///
/// # Errors
/// Those of the database.
pub fn whole(db: &Connection, row: &SessionRow, content: bool) -> rusqlite::Result<Value> {
    let details = Details::of(row);
    let mut view = summary(row);
    let unfinished = |state: &str| {
        rows::list(
            db,
            row.no,
            &rows::Filter { state: Some(state.to_owned()), after: None },
            i64::from(u16::MAX),
        )
    };
    let running: Vec<TurnRow> = [unfinished(turns::RUNNING)?, unfinished(turns::WAITING)?].concat();
    let waiting = rows::waiting(db, row.no)?;
    let queued = unfinished(turns::QUEUED)?;
    let queue: Vec<Value> = waiting
        .iter()
        .enumerate()
        .filter_map(|(place, turn_id)| {
            let turn = queued.iter().find(|turn| turn.turn_id == *turn_id)?;
            Some(json!({
                "turn_id": turn_id, "position": place + 1, "prompt_preview": turn.prompt_preview,
                "queued_at": turn.queued_at,
            }))
        })
        .collect();
    let filter = requests::Filter {
        session_id: Some(row.session_id.clone()),
        state: Some("pending".to_owned()),
        ..requests::Filter::default()
    };
    let pending: Vec<Value> =
        requests::list(db, &filter, 200)?.iter().map(|request| request.view(content)).collect();
    let progress = plan::rows::latest(db, row.no)?.map(|plan| plan.progress()).unwrap_or_default();
    let live = State::from_name(&row.state).is_some_and(State::is_open);
    if let Some(view) = view.as_object_mut() {
        let mut put = |name: &str, value: Value| drop(view.insert(name.to_owned(), value));
        put("current_turn", running.first().map_or(Value::Null, |turn| turn_view::brief(turn, None)));
        put("queue", queue.into());
        put("queue_paused", details.queue_paused.into());
        put("pending_requests", pending.into());
        put("usage", turn_view::usage_of_session(db, row.no)?);
        put(
            "spent",
            json!({"turns": details.spent.turns, "tokens": details.spent.tokens, "cost": details.spent.cost}),
        );
        put("plan_progress", json!(progress));
        put("process_id", json!(details.process_id.as_ref().filter(|_| live)));
        put("continuity", json!(details.continuity));
        put("resumable", details.resumable(row.native_session_id.as_deref()).into());
        put("steerable", details.steers.into());
    }
    Ok(view)
}
