//! Create or change a webhook; can send a test delivery.
//!
//! # Request
//! In the body: `webhook_id`, to change one; `url`; `kinds`, events such as `turn.completed`, `turn.*` or `*` (all but floods of
//! chunks); `filter`: `{"agent_id", "session_id", "label"}`, the label as `key:value`; `secret`, what requests are signed with;
//! `enabled` (true); `ping`, send a test delivery now (false). What is absent stays as it is in a change.
//!
//! # Response
//! `{"webhook": {…}, "ping_result"?: {"status"?, "ms", "error"?}}`.
//!
//! A delivery is a POST of `{"delivery_id", "webhook_id", "event": {…}, "session": {…}}` with `X-Delivery-Id`, `X-Timestamp` and, where
//! there is a secret, `X-Signature: sha256=<hex>`, the HMAC-SHA256 of the timestamp, a dot and the body. It arrives at least
//! once; those of one session in order; one that is not answered with 2xx is tried again for 24 hours.
//!
//! # Limits
//! 32 webhooks.
//!
//! # Errors
//! 400 `invalid_webhook`, 403 `url_not_allowed`, 404 `webhook_not_found`, 429 `webhook_limit`.
//!
//! # Policy
//! `params.url_allow`, `params.url_deny`, `params.block_private_networks`: asked now, and again on every connection. `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/webhooks \
//!   --json '{"url": "https://hooks.example.com/agents", "kinds": ["turn.*", "permission.requested"], "ping": true}'
//! ```

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::agents_webhooks_list::view;
use crate::agents::ids;
use crate::agents::store::now;
use crate::agents::webhooks::choice::Choice;
use crate::agents::webhooks::rows::{self, Webhook};
use crate::agents::webhooks::{outbox, signed};
use crate::egress::Judge;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

/// Most webhooks.
const MOST: i64 = 32;

/// Longest secret and URL, in bytes.
const LONGEST: usize = 4096;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let webhook_id = body.text("webhook_id")?;
    let (url, secret) = (body.text("url")?, body.text("secret")?);
    let kinds = body.texts("kinds")?;
    let filter = body.typed::<Map<String, Value>>("filter", "an object")?;
    let enabled = body.get("enabled").is_some().then(|| body.flag("enabled", true)).transpose()?;
    let ping = body.flag("ping", false)?;
    let (app, judge) = (Arc::clone(call.app()), Judge::of(call.permit()));
    drop(call);
    let wrong = |why: String| ApiError::new(ErrorCode::InvalidWebhook, why);
    if [&url, &secret].into_iter().flatten().any(|text| text.len() > LONGEST) {
        return Err(wrong(format!("url and secret must be at most {LONGEST} bytes")));
    }
    if secret.as_ref().is_some_and(String::is_empty) {
        return Err(wrong("secret must not be empty".to_owned()));
    }
    let store = app.agents.store().await?;
    let mut webhook = match webhook_id {
        Some(id) => {
            let found = store.read(move |db| rows::find(db, &id)).await?;
            found.ok_or_else(|| ApiError::new(ErrorCode::WebhookNotFound, "There is no such webhook"))?
        }
        None => Webhook {
            webhook_id: ids::new(ids::WEBHOOK),
            enabled: true,
            created_at: now(),
            ..Webhook::default()
        },
    };
    webhook.url = url.unwrap_or(webhook.url);
    if webhook.url.is_empty() {
        return Err(wrong("url is missing".to_owned()).with("parameter", "url"));
    }
    let kinds = kinds.unwrap_or(webhook.choice.kinds.clone());
    let filter = filter.unwrap_or_else(|| webhook.choice.filter());
    webhook.choice = Choice::read(kinds, Some(&filter)).map_err(wrong)?;
    webhook.secret = secret.or(webhook.secret);
    webhook.enabled = enabled.unwrap_or(webhook.enabled);
    webhook.updated_at = now();
    match judge.place(&webhook.url).await.map_err(|error| ApiError::url(&judge, "url", error)) {
        // A name without an address now may have one when there is something to deliver.
        Ok(_) | Err(Err(_)) => {}
        Err(Ok(error)) if error.code() == ErrorCode::InvalidParameter => {
            return Err(wrong(error.message().to_owned()).with("parameter", "url"));
        }
        Err(Ok(error)) => return Err(error),
    }
    let row = webhook.clone();
    let stored = store.write(move |db| {
        if rows::find(db, &row.webhook_id)?.is_none() && rows::count(db)? >= MOST {
            return Ok(None);
        }
        outbox::begin(db)?;
        let no = rows::put(db, &row)?;
        view(db, &Webhook { no, ..row }).map(Some)
    });
    let Some(shown) = stored.await? else {
        let error = ApiError::new(ErrorCode::WebhookLimit, format!("There are {MOST} webhooks already"));
        return Err(error.with("limit", MOST));
    };
    app.agents.automation.begin(&app).await?;
    let mut answer = json!({"webhook": shown});
    if let (true, Some(answer)) = (ping, answer.as_object_mut()) {
        answer.insert("ping_result".to_owned(), ping_now(&judge, &webhook).await);
    }
    Ok(Reply::ok(&answer))
}

async fn ping_now(judge: &Judge, webhook: &Webhook) -> Value {
    let (delivery_id, at) = (ids::new(outbox::DELIVERY), now());
    let body = json!({"delivery_id": delivery_id, "webhook_id": webhook.webhook_id, "event": {"kind": "ping", "ts": at}});
    let secret = webhook.secret.as_deref();
    let tried = signed::post(judge, &webhook.url, secret, &delivery_id, &body.to_string(), at).await;
    match tried.answer {
        Ok(status) => json!({"status": status, "ms": tried.ms}),
        Err(error) => json!({"ms": tried.ms, "error": error.name()}),
    }
}
