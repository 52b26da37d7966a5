//! Delete a webhook and its pending deliveries.
//!
//! # Request
//! In the path: `webhook_id`.
//!
//! # Response
//! `{"webhook_id", "deleted", "dropped"}`: how many deliveries were still to be made.
//!
//! # Limits
//! None but rate and concurrency.
//!
//! # Errors
//! 404 `webhook_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $ABX_SERVER_TOKEN" "http://localhost:9000/agents/webhooks/$WEBHOOK"
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::webhooks::rows;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(call: Call) -> Answer {
    let app = Arc::clone(call.app());
    let webhook_id = call.param("webhook_id")?.into_owned();
    drop(call);
    let asked = webhook_id.clone();
    let dropped = app.agents.store().await?.write(move |db| rows::delete(db, &asked)).await?;
    let dropped =
        dropped.ok_or_else(|| ApiError::new(ErrorCode::WebhookNotFound, "There is no such webhook"))?;
    Ok(Reply::ok(&json!({"webhook_id": webhook_id, "deleted": true, "dropped": dropped})))
}
