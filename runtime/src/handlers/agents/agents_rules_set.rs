//! Create or replace a rule, or test one without saving.
//!
//! # Request
//! `scope` (`session_id`, `agent_id`, `cwd`; empty: everywhere), `match` (`tool_kind`, `title_glob`,
//! `command_glob`, `path_glob`), `decision` (`allow`, `ask`, `reject`), `rule_id` (to replace), `expires_at`; or
//! with `test` (`tool_kind`, `title`, `raw_input`, `locations`) what would become of such a call: nothing is saved
//! then.
//!
//! # Response
//! `{"rule", "test_result"}`. A `reject` rule beats the session's policy, an `ask` rule what would allow, the
//! policy an `allow` rule. Shell text with control operators never matches the `command_glob` of an `allow` rule;
//! `reject` and `ask` rules look at its parts too.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (120), `limits.max_concurrency` (8).
//!
//! # Errors
//! 400 `invalid_rule`; 404 `rule_not_found` (a `rule_id` that is none).
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/rules \
//!   --json '{"scope": {"agent_id": "opencode"}, "match": {"command_glob": "cargo test*"}, "decision": "allow"}'
//! ```

use super::{deciding, talking};
use crate::agents::ids;
use crate::agents::rules::rows::{self, RuleRow};
use crate::agents::rules::subject::Sample;
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let test: Option<Sample> = talking::object(&mut body, "test", ErrorCode::InvalidRule)?;
    let given = body.text("rule_id")?;
    let store = call.app().agents.store().await?;
    if let Some(rule_id) = given.clone() {
        let name = rule_id.clone();
        if store.read(move |db| rows::find(db, &name)).await?.is_none() {
            return Err(ApiError::new(ErrorCode::RuleNotFound, "No such rule").with("rule_id", rule_id));
        }
    }
    if let Some(sample) = test {
        let draft = if body.get("decision").is_some() { Some(read(&call, &mut body, given)?) } else { None };
        let verdict = deciding::test(call.app(), draft.as_ref(), &sample).await?;
        let result = json!({"decision": verdict.decision, "rule_id": verdict.rule_id, "why": verdict.why});
        return Ok(Reply::ok(&json!({"rule": draft, "test_result": result})));
    }
    let rule = read(&call, &mut body, given)?;
    deciding::keep(call.app(), rule.clone()).await?;
    Ok(Reply::ok(&json!({"rule": rule})))
}

fn read(call: &Call, body: &mut JsonBody, rule_id: Option<String>) -> Result<RuleRow, ApiError> {
    let invalid = |why: &str| ApiError::new(ErrorCode::InvalidRule, why.to_owned());
    let decision = body.take("decision").ok_or_else(|| ApiError::missing("decision"))?;
    let decision = serde_json::from_value::<crate::agents::rules::Decision>(decision)
        .map_err(|_| invalid("decision must be one of allow, ask, reject"))?;
    let expires_at = body.number("expires_at")?;
    if expires_at.is_some_and(|at| at <= now()) {
        return Err(invalid("expires_at must lie in the future"));
    }
    let rule = RuleRow {
        rule_id: rule_id.unwrap_or_else(|| ids::new(ids::RULE)),
        scope: talking::object(body, "scope", ErrorCode::InvalidRule)?.unwrap_or_default(),
        matches: talking::object(body, "match", ErrorCode::InvalidRule)?.unwrap_or_default(),
        decision,
        created_by: call.principal().id.to_string(),
        created_at: now(),
        expires_at,
        hits: 0,
        last_hit_at: None,
    };
    rule.compile().map_err(|why| ApiError::new(ErrorCode::InvalidRule, why))?;
    Ok(rule)
}
