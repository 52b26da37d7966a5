//! Closing a session, and deleting one with everything that is kept of it.

use super::actor::Actor;
use super::details::Details;
use super::{fault, open};
use crate::agents::rules::rows as rules;
use crate::agents::workspace::points;
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use std::sync::Arc;
use tokio::sync::oneshot;

/// How a session is to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The agent deletes its own copy, where it can.
    pub native: bool,
    /// Also where a turn runs or waits.
    pub force: bool,
}

/// A session that was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// Whether the agent has deleted its own copy.
    pub native: bool,
    /// Bytes of the log and of artifacts that are gone.
    pub bytes: i64,
}

/// Closes a session. The turns that were cancelled for it.
///
/// # Errors
/// 404 `session_not_found`, 504 `agent_timeout` where the agent does not let go.
pub async fn close(app: &Arc<App>, session_id: &str, force: bool) -> Result<Vec<String>, ApiError> {
    let (tell, told) = oneshot::channel();
    app.agents.live.ask(app, session_id, move |actor| Box::pin(actor.close(force, tell))).await?;
    let closed = tokio::time::timeout(Actor::CLOSES_WITHIN, told).await;
    match closed {
        Ok(Ok(cancelled)) => Ok(cancelled),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::Draining, "The server is stopping")),
        Err(_) => Err(ApiError::new(ErrorCode::AgentTimeout, "The agent has not let the session go")),
    }
}

/// Deletes a session.
///
/// # Errors
/// 404 `session_not_found`, 409 `session_busy`.
pub async fn delete(app: &Arc<App>, session_id: &str, wanted: Wanted) -> Result<Deleted, ApiError> {
    let agents = &app.agents;
    let (tell, told) = oneshot::channel();
    let asked = agents.live.ask(app, session_id, move |actor| {
        let busy = actor.is_busy() && !wanted.force;
        if !busy && wanted.native {
            actor.delete_native(tell);
        }
        Box::pin(std::future::ready(busy))
    });
    if asked.await? {
        return Err(ApiError::new(ErrorCode::SessionBusy, "A turn of the session runs or waits"));
    }
    let native = told.await.unwrap_or(false);
    close(app, session_id, true).await?;
    let row = open::find(app, session_id).await?;
    // What stays of a workspace's history is only disk space: the session goes all the same.
    if let Err(error) = points::forget(app, &row).await {
        crate::log::say(format_args!("checkpoints of `{session_id}` were left: {error}"));
    }
    let (name, number) = (session_id.to_owned(), row.no);
    let bytes = agents.store().await?.write(move |db| {
        let bytes: i64 = db.query_row(
            "SELECT log_bytes + (SELECT coalesce(sum(bytes), 0) FROM artifacts WHERE session = no)
             FROM sessions WHERE no = ?1",
            [number],
            |row| row.get(0),
        )?;
        rules::delete_of_session(db, &name)?;
        db.execute("DELETE FROM sessions WHERE no = ?1", [number])?;
        Ok(bytes)
    });
    let bytes = bytes.await.map_err(|_| fault::no_session(session_id))?;
    agents.log().await?.forget(session_id);
    // A task that is still there writes nothing more; mostly there is none.
    let forgotten = agents.live.ask(app, session_id, |actor| {
        actor.forget();
        Box::pin(std::future::ready(()))
    });
    let _ = forgotten.await;
    for process_id in Details::of(&row).processes {
        agents.processes.forget(&process_id);
    }
    Ok(Deleted { native, bytes })
}
