//! A branch of a session: native where the agent can and the whole conversation is wanted, else begun with a digest.

use super::actor::{Began, How};
use super::details::{Details, Isolation};
use super::fields::Fields;
use super::open::{self, Origin};
use super::story;
use crate::agents::log::{Kind, NewEvent};
use crate::agents::process::Judge;
use crate::agents::store::sessions::SessionRow;
use crate::agents::store::turns as turn_rows;
use crate::agents::turns;
use crate::app::App;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What the branch is to be.
#[derive(Debug, Clone, Default)]
pub struct Branch {
    /// The turn behind which it begins; the end of the conversation where absent.
    pub after_turn_id: Option<String>,
    /// Its title; the parent's where absent.
    pub title: Option<String>,
    /// Where it works; where the parent does where absent.
    pub cwd: Option<String>,
    /// Its labels; the parent's where absent.
    pub labels: Option<Map<String, Value>>,
    /// Whether lists leave it out once it is closed.
    pub ephemeral: bool,
    /// Whether only a native branch will do.
    pub require_native: bool,
}

/// Branches a session.
///
/// # Errors
/// As `agents_sessions_fork`.
pub async fn fork(
    app: &Arc<App>,
    judge: &Judge,
    owner: &str,
    parent: &SessionRow,
    branch: Branch,
) -> Result<(SessionRow, Began), ApiError> {
    let until = check(app, parent, &branch).await?;
    let digest = story::digest(app, parent.no, until).await?;
    let native = parent.native_session_id.clone().filter(|_| until.is_none());
    let details = Details::of(parent);
    let fields = Fields {
        agent_id: parent.agent_id.clone(),
        cwd: branch.cwd.unwrap_or_else(|| parent.cwd.clone()),
        title: branch.title.or_else(|| parent.title.clone()),
        labels: branch.labels.unwrap_or_else(|| parent.labels.clone()),
        additional_directories: details.additional_directories,
        mcp: details.mcp,
        skills: details.skills,
        options: details.desired,
        policy: details.policy,
        // It works where its parent does, or where the caller says.
        isolation: Isolation::None,
        budget: details.budget,
        trace: details.trace,
    };
    let origin = Origin {
        parent_id: Some(parent.session_id.clone()),
        ephemeral: branch.ephemeral,
        ..Origin::default()
    };
    let how = How::Fork { native, digest, require_native: branch.require_native };
    let (row, began) = open::open(app, judge, owner, fields, origin, how).await?;
    let data = json!({
        "parent_id": parent.session_id, "after_turn_id": branch.after_turn_id, "continuity": began.continuity,
    });
    app.agents.log().await?.append(&row.session_id, vec![NewEvent::new(Kind::SessionForked, data)]).await?;
    Ok((open::find(app, &row.session_id).await?, began))
}

/// Whether a session can be branched so; the last event that the branch knows of, where that is not the last of all.
///
/// # Errors
/// As `agents_sessions_fork`, as far as it can be known before anything is done.
pub async fn check(app: &App, parent: &SessionRow, branch: &Branch) -> Result<Option<i64>, ApiError> {
    if matches!(parent.state.as_str(), "running" | "waiting" | "starting") {
        return Err(ApiError::new(ErrorCode::SessionBusy, "A turn of the session runs"));
    }
    let until = match &branch.after_turn_id {
        None => None,
        Some(turn_id) => Some(end_of(app, parent, turn_id).await?),
    };
    if until.is_some() && branch.require_native {
        let message = "No agent can branch behind an earlier turn natively";
        return Err(ApiError::new(ErrorCode::CapabilityMissing, message).with("capability", "fork"));
    }
    Ok(until)
}

/// The last event of a turn of the session.
async fn end_of(app: &App, parent: &SessionRow, turn_id: &str) -> Result<i64, ApiError> {
    let name = turn_id.to_owned();
    let found = app.agents.store().await?.read(move |db| turn_rows::find(db, &name)).await?;
    let turn = found.filter(|turn| turn.session == parent.no).ok_or_else(|| turns::not_found(turn_id))?;
    if !turns::is_over(&turn.state) {
        return Err(ApiError::new(ErrorCode::SessionBusy, "The turn has not ended").with("turn_id", turn_id));
    }
    Ok(turn.last_seq.unwrap_or(parent.last_seq))
}
