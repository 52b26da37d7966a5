//! Import a bundle made by export, from this or another sandbox.
//!
//! # Request
//! `content_base64`, the bundle; `cwd`, the directory that the session works in from now on (the bundle's); `agent_id` (the
//! bundle's); `title` (the bundle's); `on_conflict`, `new_id` or `fail` where a session or turn of its name exists (`new_id`).
//!
//! # Response
//! `{"session", "events", "artifacts", "checkpoints"}`: the session, which is `closed`, and how many of each came with it.
//! Its events have the numbers that they had, but none among those of all sessions: `gseq` is below 1. It goes on by
//! `agents_sessions_resume`.
//!
//! # Limits
//! `limits.max_request_bytes` (140 MB), `limits.max_bytes` (100 MB) of the bundle; it may unpack to ten times as much.
//!
//! # Errors
//! 400 `import_invalid`: a wrong hash, a name that leads elsewhere, another version, a row that does not fit; 403
//! `path_not_allowed`; 409 `session_exists` (with `session_id`); 413 `too_large` (with `limit`).
//!
//! # Policy
//! `paths` (of `cwd`), `limits`. Nothing in a bundle is run.
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/imports -H 'Content-Type: application/json' \
//!   -d "{\"content_base64\": \"$(base64 -w0 session.zip)\", \"cwd\": \"/home/user/project\"}"
//! ```

use super::super::launch;
use super::recorded;
use crate::agents::bundle::{self, Asked, OnConflict};
use crate::agents::store::sessions::SessionRow;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::Arc;

/// How much more a bundle may unpack to than it may be long.
const RATIO: usize = 10;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let content = body.required_text("content_base64")?;
    let on_conflict = match body.text("on_conflict")?.as_deref() {
        None | Some("new_id") => OnConflict::NewId,
        Some("fail") => OnConflict::Fail,
        Some(_) => return Err(ApiError::invalid("on_conflict", "on_conflict must be new_id or fail")),
    };
    let (cwd, agent_id, title) = (body.text("cwd")?, body.text("agent_id")?, body.text("title")?);
    let most = recorded::max_bytes(&call, 100_000_000);
    // Four digits say three bytes: what is longer is not decoded.
    if content.len() / 4 > most / 3 + 1 {
        return Err(too_large(most));
    }
    let unpacked = tokio::task::spawn_blocking(move || {
        let bytes = STANDARD.decode(content).map_err(|_| {
            ApiError::new(ErrorCode::ImportInvalid, "content_base64 must be standard base64")
                .with("parameter", "content_base64")
        })?;
        if bytes.len() > most {
            return Err(too_large(most));
        }
        Ok(bundle::unpack(&bytes, most.saturating_mul(RATIO))?)
    });
    let bundle = unpacked.await.map_err(|_| ApiError::internal("The bundle could not be read"))??;
    let cwd = cwd.or_else(|| bundle.says("cwd").map(str::to_owned));
    let cwd = launch::directory(&call, "cwd", cwd.as_deref())?.path;
    let owner = call.principal().id.to_string();
    let app = Arc::clone(call.app());
    drop(call);
    let asked = Asked { cwd, agent_id, title, owner, on_conflict };
    let restored = bundle::restore(&app, bundle, asked).await?;
    Ok(Reply::ok(&json!({
        "session": shown(&restored.session),
        "events": restored.events,
        "artifacts": restored.artifacts,
        "checkpoints": restored.checkpoints,
    })))
}

fn too_large(most: usize) -> ApiError {
    ApiError::new(ErrorCode::TooLarge, "The bundle is larger than the limit").with("limit", most)
}

fn shown(session: &SessionRow) -> Value {
    json!({
        "session_id": session.session_id,
        "agent_id": session.agent_id,
        "native_session_id": session.native_session_id,
        "state": session.state,
        "cwd": session.cwd,
        "title": session.title,
        "labels": session.labels,
        "created_at": session.created_at,
        "last_seq": session.last_seq,
    })
}
