//! Fetch one artifact.
//!
//! # Request
//! In the path: `session_id`, `artifact_id`.
//!
//! # Response
//! `{"artifact": {"artifact_id", "name", "mime_type", "bytes", "sha256", "source", "turn_id", "created_at"},
//! "content_base64"}`. The bytes are those that were handed over, or the answer is an error: their hash is looked at.
//!
//! # Limits
//! `limits.max_bytes` (100 MB) of its content.
//!
//! # Errors
//! 404 `session_not_found`, 404 `artifact_not_found`, 413 `too_large` (with `limit`).
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/sessions/$SESSION/artifacts/$ARTIFACT
//! ```

use super::{recorded, workspaces};
use crate::agents::artifacts;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let most = recorded::max_bytes(&call, 100_000_000);
    let app = Arc::clone(call.app());
    let session_id = call.param("session_id")?.into_owned();
    let artifact_id = call.param("artifact_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let store = app.agents.store().await?;
    let found = store.read(move |db| artifacts::find(db, session.no, &artifact_id)).await?;
    let found =
        found.ok_or_else(|| ApiError::new(ErrorCode::ArtifactNotFound, "There is no such artifact"))?;
    if usize::try_from(found.bytes).unwrap_or(usize::MAX) > most {
        return Err(
            ApiError::new(ErrorCode::TooLarge, "The artifact is larger than the limit").with("limit", most)
        );
    }
    let bytes = artifacts::bytes(store.place(), &found.sha256).await?;
    Ok(Reply::ok(&json!({"artifact": found, "content_base64": STANDARD.encode(bytes)})))
}
