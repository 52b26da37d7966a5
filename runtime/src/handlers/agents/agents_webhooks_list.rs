//! List webhooks with their recent deliveries.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"webhooks": [{"webhook_id", "url", "kinds", "filter", "enabled", "has_secret", "pending", "last_deliveries": [{"id", "kind", "at",
//! "status"?, "attempt", "ms", "error"?}]}]}`. Secrets are never shown.
//!
//! # Limits
//! None but rate and concurrency.
//!
//! # Errors
//! Only the common ones.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/webhooks
//! ```

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::agents::webhooks::outbox;
use crate::agents::webhooks::rows::{self, Webhook};
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let app = Arc::clone(call.app());
    drop(call);
    let store = app.agents.store().await?;
    let listed = store.read(|db| {
        let webhooks = rows::list(db, false)?;
        webhooks.iter().map(|webhook| view(db, webhook)).collect::<rusqlite::Result<Vec<Value>>>()
    });
    Ok(Reply::ok(&json!({"webhooks": listed.await?})))
}

/// A webhook as callers see it.
pub(super) fn view(db: &Connection, webhook: &Webhook) -> rusqlite::Result<Value> {
    let mut view = webhook.view();
    view.insert("pending".to_owned(), outbox::pending(db, webhook.no)?.into());
    view.insert("last_deliveries".to_owned(), rows::latest(db, webhook.no)?.into());
    Ok(Value::Object(view))
}
