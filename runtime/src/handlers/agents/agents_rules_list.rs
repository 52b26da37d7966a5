//! List standing permission rules in the order they apply.
//!
//! # Request
//! Query: `scope` (`all`, `session`, `agent`, `cwd`), `session_id`, `agent_id`.
//!
//! # Response
//! `{"rules"}` in the order in which they apply: `reject`, `ask`, `allow`, the oldest first.
//!
//! # Limits
//! `limits.max_entries` (200), `limits.max_bytes` (4 MB), `limits.rate_per_minute` (600), `limits.max_concurrency`
//! (32).
//!
//! # Errors
//! 400 `invalid_parameter`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/rules?scope=session
//! ```

use super::talking;
use crate::agents::rules::Scope;
use crate::agents::rules::rows::{RuleRow, all};
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::json;

pub(crate) async fn call(call: Call) -> Answer {
    let scope = talking::word(&call, "scope", &["all", "session", "agent", "cwd"])?;
    let (session_id, agent_id) = (talking::text(&call, "session_id")?, talking::text(&call, "agent_id")?);
    let rules = call.app().agents.store().await?.read(|db| all(db, now())).await?;
    let of_scope = |rule: &Scope| match scope.as_deref() {
        Some("all") => *rule == Scope::default(),
        Some("session") => rule.session_id.is_some(),
        Some("agent") => rule.agent_id.is_some(),
        Some("cwd") => rule.cwd.is_some(),
        _ => true,
    };
    let rules: Vec<RuleRow> = rules
        .into_iter()
        .filter(|rule| of_scope(&rule.scope))
        .filter(|rule| session_id.is_none() || rule.scope.session_id == session_id)
        .filter(|rule| agent_id.is_none() || rule.scope.agent_id == agent_id)
        .collect();
    Ok(Reply::ok(&json!({"rules": rules})))
}
