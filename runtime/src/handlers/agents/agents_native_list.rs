//! Ask the agent which conversations it has stored itself.
//!
//! # Request
//! The id in the path. Query: `cwd` (only those of this directory, in which the agent then runs), `cursor` (the agent's).
//!
//! # Response
//! `{"sessions": [{native_session_id, cwd, title?, updated_at?, known_as?}], "next_cursor"?}`. `known_as` is the session
//! under which this server has the conversation already.
//!
//! # Limits
//! `limits.timeout_seconds` (180) of silence.
//!
//! # Errors
//! 404 `agent_not_found`; 409 `agent_not_installed`, `capability_missing`, `agent_auth_required` (with `auth_methods`); 502
//! `agent_protocol_error`; 503 `agent_unavailable`; 504 `agent_timeout`.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.allow_vars`, `params.deny_vars`, `params.env_deny`, `paths`.
//!
//! ```sh
//! curl http://localhost:9000/agents/catalog/opencode/sessions
//! ```

use super::super::launch;
use super::catalogued::{Starting, refused};
use crate::agents::acp::Wait;
use crate::agents::catalogue;
use crate::agents::process::HANDSHAKE_PATIENCE;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How long the agent may take to leave once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn call(call: Call) -> Answer {
    let cwd = call.query().text("cwd")?.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
    let cursor = call.query().text("cursor")?.filter(|cursor| !cursor.is_empty()).map(str::to_owned);
    let silence = Duration::from_secs(launch::limit(&call, |limits| limits.timeout_seconds, 180));
    let starting = Starting::of(&call)?;
    let (process, place) = starting.start(cwd.as_deref(), HANDSHAKE_PATIENCE).await?;
    if process.handshake().is_none_or(|handshake| !handshake.can("list")) {
        process.stop(GRACE, false).await;
        let error =
            ApiError::new(ErrorCode::CapabilityMissing, "The agent lists no conversations of its own");
        return Err(error.with("capability", "session/list"));
    }
    let mut params = Map::new();
    params.extend(cwd.map(|_| ("cwd".to_owned(), Value::from(place))));
    params.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
    let asked = process.peer.request("session/list", &Value::Object(params), Wait::silence(silence)).await;
    process.stop(GRACE, false).await;
    let answer = asked.map_err(|error| refused(&starting.agents, &process, error))?;
    let known = catalogue::known_as(starting.agents.store().await?, process.agent_id.clone()).await?;
    let listed = answer.get("sessions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let sessions: Vec<Value> = listed.iter().filter_map(|session| shown(session, &known)).collect();
    let mut told = json!({"sessions": sessions});
    if let (Some(next), Some(told)) =
        (answer.get("nextCursor").filter(|n| !n.is_null()), told.as_object_mut())
    {
        told.insert("next_cursor".to_owned(), next.clone());
    }
    starting.agents.masks.mask_json(&mut told);
    Ok(Reply::ok(&told))
}

/// A conversation as answers show it; none where the agent gives it no name.
fn shown(session: &Value, known: &std::collections::HashMap<String, String>) -> Option<Value> {
    let text = |name: &str| session.get(name).and_then(Value::as_str);
    let native = text("sessionId")?;
    let mut shown = Map::new();
    shown.insert("native_session_id".to_owned(), native.into());
    shown.insert("cwd".to_owned(), text("cwd").into());
    shown.extend(text("title").map(|title| ("title".to_owned(), title.into())));
    shown.extend(text("updatedAt").and_then(seconds).map(|at| ("updated_at".to_owned(), at.into())));
    shown.extend(known.get(native).map(|id| ("known_as".to_owned(), id.as_str().into())));
    Some(Value::Object(shown))
}

/// Seconds since 1970 of a time as agents write it.
fn seconds(text: &str) -> Option<f64> {
    let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a time to the microsecond is what is shown")]
    Some((at.unix_timestamp_nanos() / 1_000) as f64 / 1e6)
}
