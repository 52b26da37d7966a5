//! Makes a turn of a run: as the one who made the schedule, by the rules that hold now.

use std::sync::Arc;

use policy_lang::decide::Query;
use policy_lang::endpoint::EndpointId;
use serde_json::{Map, Value};

use super::rows::Schedule;
use super::runs::{self, Claim};
use crate::agents::ids;
use crate::agents::process::Judge;
use crate::agents::sessions::actor::{How, Launch, OnBusy, TurnAsked};
use crate::agents::sessions::fields::Fields;
use crate::agents::sessions::open::{self, Origin};
use crate::agents::store::{Store, StoreError};
use crate::agents::turns::prompt::Prompt;
use crate::app::App;
use crate::endpoint::JsonBody;
use crate::error::{ApiError, ErrorCode};
use crate::log;

/// What a run has become.
#[derive(Debug, Clone)]
pub struct Started {
    /// The session that it runs in.
    pub session_id: String,
    /// The turn.
    pub turn_id: String,
    /// The first event of the turn.
    pub seq: i64,
}

/// Starts a claimed run, and writes down what came of it.
///
/// # Errors
/// Why it was not started; written down as well.
pub async fn start(app: &Arc<App>, store: &Store, claim: Claim) -> Result<Started, ApiError> {
    let Claim { run, schedule } = claim;
    let outcome = match permitted(app, &schedule) {
        Ok(()) => turn(app, &schedule).await,
        Err(error) => {
            written(store.write(move |db| runs::ended(db, run, "skipped", Some("identity"))).await);
            return Err(error);
        }
    };
    match &outcome {
        Ok(started) => {
            let Started { session_id, turn_id, .. } = started.clone();
            written(store.write(move |db| runs::started(db, run, &session_id, &turn_id)).await);
        }
        Err(error) => {
            let reason = error.code().as_str();
            log::say(format_args!("{} was not started: {reason}", schedule.schedule_id));
            written(store.write(move |db| runs::ended(db, run, "failed", Some(reason))).await);
        }
    }
    // Who watches the runs has one more to watch, or one less.
    app.agents.automation.schedules_have_changed();
    outcome
}

/// What is not written down is found by the next start of the server.
fn written(outcome: Result<(), StoreError>) {
    if let Err(error) = outcome {
        log::say(format_args!("schedules: {error}"));
    }
}

/// Whether the one who made the schedule is still known, and may still run agents.
fn permitted(app: &App, schedule: &Schedule) -> Result<(), ApiError> {
    let state = app.policy();
    let owner = state.tokens.principals().iter().find(|principal| *principal.id == *schedule.owner);
    let Some(owner) = owner else {
        return Err(ApiError::new(ErrorCode::MissingScope, "Who made the schedule is not known any more"));
    };
    let judge = Judge::now(app, EndpointId::AgentsSchedulesTrigger);
    let mut query = Query::of(judge.endpoint);
    query.scopes = Some(&owner.scopes);
    judge.ask(&query)
}

async fn turn(app: &Arc<App>, schedule: &Schedule) -> Result<Started, ApiError> {
    let judge = Judge::now(app, EndpointId::AgentsSchedulesTrigger);
    let mut launch = None;
    let session_id = match &schedule.session_id {
        Some(session_id) => {
            let row = open::find(app, session_id).await?;
            if matches!(row.state.as_str(), "disconnected" | "failed") {
                launch =
                    Some(Launch { judge: judge.clone(), place: open::directory(&judge, "cwd", &row.cwd)? });
            }
            row.session_id
        }
        None => {
            let fields = Fields::read(&mut JsonBody::new(schedule.session_fields.clone()))?;
            let origin = Origin { schedule_id: Some(schedule.schedule_id.clone()), ..Origin::default() };
            open::open(app, &judge, &schedule.owner, fields, origin, How::New).await?.0.session_id
        }
    };
    let asked = TurnAsked {
        turn_id: ids::new(ids::TURN),
        owner: schedule.owner.clone(),
        blocks: blocks(&schedule.prompt)?,
        attached: Vec::new(),
        on_busy: OnBusy::Queue,
        timeout: None,
        schedule_id: Some(schedule.schedule_id.clone()),
        retry_of: None,
        launch,
    };
    let queued =
        app.agents.live.ask(app, &session_id, move |actor| Box::pin(actor.queue_turn(asked))).await??;
    Ok(Started { session_id, turn_id: queued.turn_id, seq: queued.seq })
}

/// The prompt of a schedule as content blocks.
///
/// # Errors
/// 400 `invalid_prompt`.
pub fn blocks(prompt: &Value) -> Result<Vec<Value>, ApiError> {
    let mut body = JsonBody::new(Map::from_iter([("prompt".to_owned(), prompt.clone())]));
    let prompt = Prompt::read(&mut body)?.ok_or_else(|| ApiError::missing("prompt"))?;
    Ok(prompt.blocks)
}
