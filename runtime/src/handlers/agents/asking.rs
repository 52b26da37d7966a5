//! A prompt on its way into the queue: what starting a turn, streaming it and running a task have in common.

use super::super::launch;
use super::{going_back, talking};
use crate::agents::artifacts::{self, Source};
use crate::agents::ids;
use crate::agents::log::NewEvent;
use crate::agents::process::Judge;
use crate::agents::sessions::actor::{OnBusy, Queued, TurnAsked};
use crate::agents::sessions::details::Details;
use crate::agents::store::sessions::SessionRow;
use crate::agents::store::turns as turn_rows;
use crate::agents::turns::prompt::{Attachment, Prompt};
use crate::agents::turns::{self, attach};
use crate::agents::workspace::changes::{Question, compare};
use crate::app::App;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long a turn may run where neither the caller nor the policy says.
const LONGEST: u64 = 3600;

/// A turn as it was read: what is left is to look at an earlier one, or to write attachments.
pub(super) struct Reading {
    app: Arc<App>,
    judge: Judge,
    row: SessionRow,
    content: Content,
    asked: TurnAsked,
    restore: Option<going_back::Leave>,
}

enum Content {
    New(Prompt),
    Old(String),
}

/// Reads what is asked for.
pub(super) fn read(call: &Call, body: &mut JsonBody, row: &SessionRow) -> Result<Reading, ApiError> {
    let on_busy = match body.text("on_busy")?.as_deref() {
        None | Some("queue") => OnBusy::Queue,
        Some("interrupt") => OnBusy::Interrupt,
        Some("reject") => OnBusy::Reject,
        Some(_) => {
            return Err(ApiError::invalid("on_busy", "on_busy must be one of queue, interrupt, reject"));
        }
    };
    let timeout =
        launch::time(call, "timeout_seconds", body.number("timeout_seconds")?, LONGEST, |limits| {
            limits.max_duration_seconds
        })?;
    let retry_of = body.text("retry_of")?;
    let content = match (Prompt::read(body)?, retry_of.clone()) {
        (Some(_), Some(_)) => {
            return Err(ApiError::new(
                ErrorCode::InvalidPrompt,
                "only one of prompt, command and retry_of may be given",
            ));
        }
        (Some(prompt), None) => Content::New(prompt),
        (None, Some(turn_id)) => Content::Old(turn_id),
        (None, None) => return Err(ApiError::missing("prompt")),
    };
    let restore = match (body.flag("restore_files", false)?, &content) {
        (false, _) => None,
        (true, Content::Old(_)) => Some(going_back::leave(call)?),
        (true, Content::New(_)) => {
            return Err(ApiError::invalid("restore_files", "restore_files goes with retry_of"));
        }
    };
    let launch = match row.state.as_str() {
        "disconnected" | "failed" => Some(talking::launch_for(call, row)?),
        _ => None,
    };
    let asked = TurnAsked {
        turn_id: ids::new(ids::TURN),
        owner: call.principal().id.to_string(),
        blocks: Vec::new(),
        attached: Vec::new(),
        on_busy,
        timeout: Some(timeout),
        schedule_id: None,
        retry_of,
        launch,
    };
    let judge = Judge::of(call.permit());
    Ok(Reading { app: Arc::clone(call.app()), judge, row: row.clone(), content, asked, restore })
}

impl Reading {
    /// The turn, its attachments written, if the agent takes what is in it, or the files put back that it is repeated on.
    pub(super) async fn whole(self) -> Result<TurnAsked, ApiError> {
        let Self { app, judge, row, content, mut asked, restore } = self;
        asked.blocks = match content {
            Content::Old(turn_id) => {
                let blocks = earlier(&app, &row, &turn_id).await?;
                if let Some(leave) = restore {
                    leave.before(&app, &row, &turn_id).await?;
                }
                blocks
            }
            Content::New(prompt) => {
                let (blocks, attached) = whole(&app, judge, &row, &asked.turn_id, prompt).await?;
                asked.attached = attached;
                blocks
            }
        };
        Ok(asked)
    }
}

async fn whole(
    app: &App,
    judge: Judge,
    row: &SessionRow,
    turn_id: &str,
    prompt: Prompt,
) -> Result<(Vec<Value>, Vec<NewEvent>), ApiError> {
    let details = Details::of(row);
    if let Some(kind) = prompt.missing(&details.capabilities) {
        let message = format!("The agent takes no `{kind}` in prompts");
        return Err(ApiError::new(ErrorCode::CapabilityMissing, message)
            .status(StatusCode::BAD_REQUEST)
            .with("capability", kind));
    }
    let folder = format!("{}/attachments/{turn_id}", attach::scratch(&row.cwd, &row.session_id));
    let mut blocks = prompt.blocks;
    let (written, linked) = attach::write(judge, folder, prompt.attachments, details.capabilities).await?;
    blocks.extend(written);
    // What goes to the agent as a block is kept as it is told.
    let mut attached = Vec::with_capacity(linked.len());
    for Attachment { name, mime_type, content } in linked {
        let place = app.agents.store().await?.place().clone();
        attached.push(
            artifacts::keep(&place, &row.session_id, name, mime_type, content, Source::Attachment).await?,
        );
    }
    Ok((blocks, attached))
}

/// The prompt of an earlier turn of the session.
async fn earlier(app: &App, row: &SessionRow, turn_id: &str) -> Result<Vec<Value>, ApiError> {
    let name = turn_id.to_owned();
    let found = app.agents.store().await?.read(move |db| turn_rows::find(db, &name)).await?;
    let found = found.filter(|turn| turn.session == row.no).ok_or_else(|| turns::not_found(turn_id))?;
    Ok(found.prompt.as_array().cloned().unwrap_or_default())
}

/// Puts a turn into the queue of a session.
pub(super) async fn queue(app: &Arc<App>, session_id: &str, asked: TurnAsked) -> Result<Queued, ApiError> {
    app.agents.live.ask(app, session_id, move |actor| Box::pin(actor.queue_turn(asked))).await?
}

/// How long a call waits, at most a minute.
pub(super) fn patience(asked: Option<u64>) -> Result<Duration, ApiError> {
    match asked.unwrap_or(0) {
        millis if millis <= 60_000 => Ok(Duration::from_millis(millis)),
        _ => Err(ApiError::invalid("wait_ms", "wait_ms must be at most 60000")),
    }
}

/// A turn that has just been taken in, as answers show it.
pub(super) fn shown(queued: &Queued, state: &str) -> Value {
    let mut turn = json!({"turn_id": queued.turn_id, "state": state, "seq": queued.seq});
    if let (Some(position), Some(turn)) = (queued.position, turn.as_object_mut())
        && state == turns::QUEUED
    {
        turn.insert("position".to_owned(), position.into());
    }
    turn
}

/// Which files a turn has changed; null where that is not known.
pub(super) fn changes(
    call: &Call,
    session: &SessionRow,
    turn_id: &str,
) -> impl Future<Output = Value> + Send + use<> {
    let app = Arc::clone(call.app());
    let (session, turn_id) = (session.clone(), turn_id.to_owned());
    async move { changed(&app, &session, &turn_id).await }
}

async fn changed(app: &Arc<App>, session: &SessionRow, turn_id: &str) -> Value {
    let of = |to: Option<&str>| Question {
        from: Some(turn_id.to_owned()),
        to: to.map(str::to_owned),
        scope: Vec::new(),
    };
    // Until the turn has left its own mark, what is there now.
    let found = match compare(app, session, of(Some(turn_id)), |_| true).await {
        Ok(None) => compare(app, session, of(None), |_| true).await,
        found => found,
    };
    let Ok(Some(compared)) = found else { return Value::Null };
    let of_status = |status: &str| -> Vec<String> {
        let these = compared.statuses().filter(|(_, found)| *found == status);
        these.map(|(path, _)| String::from_utf8_lossy(path).into_owned()).collect()
    };
    json!({"added": of_status("added"), "modified": of_status("modified"), "deleted": of_status("deleted")})
}
