//! Export a session as Markdown, JSON or a full bundle.
//!
//! # Request
//! In the path: `session_id`. In the query: `format`, `markdown`, `json` or `bundle` (`markdown`); `thoughts` and
//! `tool_output`, to have those in the text (false); `redact`, to mask known secrets (true).
//!
//! # Response
//! As text: `{"format", "text", "bytes"}`. As a bundle: `{"format", "content_base64", "sha256", "bytes"}`, a zip archive with
//! events, items, artifacts and checkpoints that `agents_import` takes; `thoughts` and `tool_output` do not apply to it.
//! Bytes of artifacts and of checkpoints are as they are: only texts are masked.
//!
//! # Limits
//! `limits.max_bytes` (100 MB) of the text or the bundle, `limits.timeout_seconds` (120).
//!
//! # Errors
//! 404 `session_not_found`, 413 `too_large` (with `limit`), 408 `timeout`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/sessions/$SESSION/export?format=bundle"
//! ```

use super::super::launch;
use super::{recorded, workspaces};
use crate::agents::bundle::{self, Shape};
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Markdown,
    Json,
    Bundle,
}

pub(crate) async fn call(call: Call) -> Answer {
    let query = call.query();
    let format = match query.text("format")? {
        None | Some("" | "markdown") => Format::Markdown,
        Some("json") => Format::Json,
        Some("bundle") => Format::Bundle,
        Some(_) => return Err(ApiError::invalid("format", "format must be markdown, json or bundle")),
    };
    let shape =
        Shape { thoughts: query.flag("thoughts", false)?, tool_output: query.flag("tool_output", false)? };
    let redact = query.flag("redact", true)?;
    let most = recorded::max_bytes(&call, 100_000_000);
    let longest = Duration::from_secs(launch::limit(&call, |limits| limits.timeout_seconds, 120));
    let app = Arc::clone(call.app());
    let session_id = call.param("session_id")?.into_owned();
    drop(call);
    let session = workspaces::session(&app, session_id).await?;
    let made = async {
        match format {
            Format::Bundle => packed(&app, &session, redact, most).await,
            format => written(&app, session, (format, shape), redact, most).await,
        }
    };
    let made = tokio::time::timeout(longest, made).await;
    let answer =
        made.map_err(|_| ApiError::new(ErrorCode::Timeout, "The session could not be exported in time"))?;
    Ok(Reply::ok(&answer?))
}

async fn packed(app: &Arc<App>, session: &SessionRow, redact: bool, most: usize) -> Result<Value, ApiError> {
    let bytes = bundle::pack(app, session, redact, most).await?;
    let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({
        "format": "bundle",
        "content_base64": STANDARD.encode(&bytes),
        "sha256": sha256,
        "bytes": bytes.len(),
    }))
}

async fn written(
    app: &Arc<App>,
    session: SessionRow,
    (format, shape): (Format, Shape),
    redact: bool,
    most: usize,
) -> Result<Value, ApiError> {
    let write = move |db: &rusqlite::Connection| match format {
        Format::Json => bundle::json(db, &session, shape),
        _ => bundle::markdown(db, &session, shape),
    };
    let mut text = app.agents.store().await?.read(write).await?;
    if redact {
        text = masked(app, format, text);
    }
    if text.len() > most {
        return Err(
            ApiError::new(ErrorCode::TooLarge, "The text is larger than the limit").with("limit", most)
        );
    }
    let word = if format == Format::Json { "json" } else { "markdown" };
    Ok(json!({"format": word, "text": text, "bytes": text.len()}))
}

/// In JSON a secret may be written with escapes: its texts are masked, not the whole.
fn masked(app: &App, format: Format, text: String) -> String {
    match serde_json::from_str::<Value>(&text) {
        Ok(mut value) if format == Format::Json => {
            app.agents.masks.mask_json(&mut value);
            value.to_string()
        }
        _ => app.agents.masks.mask(&text).into_owned(),
    }
}
