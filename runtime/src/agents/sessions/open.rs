//! A new session: stored first, then its agent is started. One that fails stays, with the log of its process, as `failed`.

use super::actor::{Began, How, Launch};
use super::details::{Details, Isolation};
use super::fields::Fields;
use super::{fault, worktree};
use crate::agents::ids;
use crate::agents::log::{Kind, NewEvent};
use crate::agents::process::{Judge, Workplace, place_refused};
use crate::agents::store::now;
use crate::agents::store::sessions::{self, SessionRow};
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where a new session comes from.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The session that it is a branch of.
    pub parent_id: Option<String>,
    /// The schedule that opens it.
    pub schedule_id: Option<String>,
    /// Whether lists leave it out once it is closed.
    pub ephemeral: bool,
}

/// Opens a session for `owner`, by the rules of `judge`, and answers when its agent is up.
///
/// # Errors
/// As `agents_sessions_create`.
pub async fn open(
    app: &Arc<App>,
    judge: &Judge,
    owner: &str,
    fields: Fields,
    origin: Origin,
    how: How,
) -> Result<(SessionRow, Began), ApiError> {
    let agents = &app.agents;
    agents.known(&fields.agent_id).await?;
    let mut place = directory(judge, "cwd", &fields.cwd)?;
    let mut details = fields.details();
    details.ephemeral = origin.ephemeral;
    details.additional_directories = fields
        .additional_directories
        .iter()
        .map(|asked| directory(judge, "additional_directories", asked).map(|place| place.path))
        .collect::<Result<_, _>>()?;
    let session_id = ids::new(ids::SESSION);
    let seat = agents.live.seat()?;
    if details.isolation == Isolation::Worktree {
        details.origin = Some(place.path.clone());
        let tree = worktree::add(app, place, &session_id, owner).await?;
        place = directory(judge, "cwd", &tree)?;
    }
    let row = row(&session_id, owner, &fields, &place, &details, &origin);
    let created = json!({
        "session_id": session_id, "agent_id": row.agent_id, "cwd": row.cwd, "title": row.title,
        "labels": row.labels, "parent_id": row.parent_id, "schedule_id": row.schedule_id,
    });
    let event = NewEvent::new(Kind::SessionCreated, created);
    agents
        .log()
        .await?
        .append_with(&session_id, vec![event], move |db| sessions::insert(db, &row).map(|_| ()))
        .await?;
    let launch = Launch { judge: judge.clone(), place };
    let (waiter, came_up) = oneshot::channel();
    let asked = agents.live.ask(app, &session_id, move |actor| {
        actor.sit(seat);
        actor.begin(launch, how, waiter);
        Box::pin(std::future::ready(()))
    });
    asked.await?;
    let began = wait(came_up).await.map_err(|error| error.with("session_id", session_id.as_str()))?;
    Ok((find(app, &session_id).await?, began))
}

/// Waits for an agent to come up.
///
/// # Errors
/// Why it did not.
pub async fn wait(came_up: oneshot::Receiver<Result<Began, ApiError>>) -> Result<Began, ApiError> {
    let stopped = || Err(ApiError::new(ErrorCode::Draining, "The server is stopping"));
    came_up.await.unwrap_or_else(|_| stopped())
}

/// A session by its id.
///
/// # Errors
/// 404 `session_not_found`.
pub async fn find(app: &App, session_id: &str) -> Result<SessionRow, ApiError> {
    let name = session_id.to_owned();
    let found = app.agents.store().await?.read(move |db| sessions::find(db, &name)).await?;
    found.ok_or_else(|| fault::no_session(session_id))
}

/// A directory that an agent may work in.
///
/// # Errors
/// 403 where the rules do not allow it, 400 where it is none.
pub fn directory(judge: &Judge, parameter: &str, asked: &str) -> Result<Workplace, ApiError> {
    judge.place(Some(asked)).map_err(|error| place_refused(parameter, &error))
}

fn row(
    session_id: &str,
    owner: &str,
    fields: &Fields,
    place: &Workplace,
    details: &Details,
    origin: &Origin,
) -> SessionRow {
    let at = now();
    SessionRow {
        session_id: session_id.to_owned(),
        agent_id: fields.agent_id.clone(),
        parent_id: origin.parent_id.clone(),
        schedule_id: origin.schedule_id.clone(),
        owner: owner.to_owned(),
        state: "starting".to_owned(),
        cwd: place.path.clone(),
        title: fields.title.clone(),
        labels: fields.labels.clone(),
        version: 1,
        details: details.to_map(),
        created_at: at,
        updated_at: at,
        ..SessionRow::default()
    }
}
