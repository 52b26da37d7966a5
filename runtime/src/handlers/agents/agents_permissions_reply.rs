//! Allow or reject a tool call that is waiting.
//!
//! # Request
//! `decision` (`allow`, `reject`) or `option_id` (one of the agent's own), `remember` (`scope`, `match`; `{}` for
//! the same call in this session), `note`, `on_reject` (`continue`, `cancel_turn`).
//!
//! # Response
//! `{"request", "rule_id", "delivered"}`. `allow` is given for this once; the agent's own standing options only by
//! `option_id`.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB), `limits.rate_per_minute` (600), `limits.max_concurrency` (32).
//!
//! # Errors
//! 400 `invalid_option` (with `options`), `invalid_rule`; 403 `missing_scope` (remembering wider than the session
//! needs `agents:manage`); 404 `request_not_found`; 409 `request_resolved` (with the recorded answer),
//! `wrong_kind`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/requests/$REQUEST/decision \
//!   --json '{"decision": "allow", "remember": {"match": {"command_glob": "cargo test*"}}}'
//! ```

use super::{deciding, talking};
use crate::agents::requests::answer::Wanted;
use crate::agents::sessions::actor::{Decided, Outcome, PermissionAnswer};
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let wanted = wanted(&mut body)?;
    let remember = deciding::remember(&mut body)?;
    let note = body.text("note")?;
    let cancel_turn = match body.text("on_reject")?.as_deref() {
        None | Some("continue") => false,
        Some("cancel_turn") => true,
        Some(_) => return Err(ApiError::invalid("on_reject", "on_reject must be continue or cancel_turn")),
    };
    let request = deciding::pending(deciding::find(&call).await?, "permission")?;
    let rule = remember.map(|remember| remember.scoped(&call, &request)).transpose()?;
    let outcome = Outcome::Permission(PermissionAnswer { wanted, note, cancel_turn });
    match deciding::decide(call.app(), call.principal(), &request, outcome).await? {
        Decided::Done { delivered, allows, subject } => {
            let rule_id = match rule {
                Some(rule) => Some(rule.keep(call.app(), call.principal(), allows, &subject).await?),
                None => None,
            };
            let request = deciding::find(&call).await?.view(talking::content(&call));
            Ok(Reply::ok(&json!({"request": request, "rule_id": rule_id, "delivered": delivered})))
        }
        Decided::InvalidOption(options) => {
            let message = "The agent has no such option for this call";
            Err(ApiError::new(ErrorCode::InvalidOption, message).with("options", options))
        }
        Decided::Resolved => Err(deciding::resolved(&deciding::find(&call).await?)),
    }
}

fn wanted(body: &mut JsonBody) -> Result<Wanted, ApiError> {
    match (body.text("decision")?.as_deref(), body.text("option_id")?) {
        (Some("allow"), None) => Ok(Wanted::Allow),
        (Some("reject"), None) => Ok(Wanted::Reject),
        (None, Some(option_id)) => Ok(Wanted::Option(option_id)),
        (None, None) => Err(ApiError::missing("decision")),
        (Some(_), None) => Err(ApiError::invalid("decision", "decision must be allow or reject")),
        (Some(_), Some(_)) => {
            Err(ApiError::invalid("option_id", "only one of decision and option_id may be given"))
        }
    }
}
