//! Current mode, model and other options, and slash commands.
//!
//! # Request
//! `{session_id}` in the path.
//!
//! # Response
//! `{"options", "commands"}`: each option with its `value`, its `choices` and how it is set (`via`: `config`,
//! `mode`, `model`); slash commands for `command` of a turn.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 404 `session_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/sessions/$SESSION/options
//! ```

use super::talking;
use crate::agents::options::Options;
use crate::agents::sessions::details::Details;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let details = Details::of(&talking::session(&call).await?);
    let options = Options::from_value(&details.options);
    Ok(Reply::ok(&json!({"options": options.views(), "commands": options.commands()})))
}
