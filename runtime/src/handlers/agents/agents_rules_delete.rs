//! Revoke a rule.
//!
//! # Request
//! `{rule_id}` in the path.
//!
//! # Response
//! `{"rule_id", "deleted": true}`. The next call that the rule would have decided is decided without it.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (120), `limits.max_concurrency` (8).
//!
//! # Errors
//! 404 `rule_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/rules/$RULE
//! ```

use crate::agents::rules::rows;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let rule_id = call.param("rule_id")?.into_owned();
    let name = rule_id.clone();
    if call.app().agents.store().await?.write(move |db| rows::delete(db, &name)).await? {
        Ok(Reply::ok(&json!({"rule_id": rule_id, "deleted": true})))
    } else {
        Err(ApiError::new(ErrorCode::RuleNotFound, "No such rule").with("rule_id", rule_id))
    }
}
