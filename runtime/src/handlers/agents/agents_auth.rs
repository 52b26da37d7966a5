//! Sign an agent in with one of its methods, or sign it out.
//!
//! # Request
//! `action` (required: `login` or `logout`), `method_id` (of the handshake's `auth_methods`; may be left out where there is
//! one only), `timeout_seconds` (300).
//!
//! # Response
//! `{"status", "pty_session_id"?, "ws_url"?, "exit_code"?}`: `ready`, `signed_out`, or `pending_terminal` for a method of
//! type `terminal`: the agent's own command then runs in a terminal session, and its status 0 means that it is signed in.
//!
//! # Limits
//! `limits.timeout_seconds` (180) of silence.
//!
//! # Errors
//! 400 `unknown_method` (with `auth_methods`), `invalid_parameter`; 404 `agent_not_found`; 409 `agent_not_installed`,
//! `agent_auth_required` (variables of the method are not among the credentials), `capability_missing` (no `logout`, or
//! `pty_connect` is closed); 429 `too_many_sessions`; 502 `agent_protocol_error`; 504 `agent_timeout`.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.allow_vars`, `params.deny_vars`, `params.env_deny`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/catalog/claude/auth -H 'Content-Type: application/json' \
//!   --json '{"action": "login"}'
//! ```

use super::super::launch;
use super::catalogued::{Starting, refused};
use super::sign_in;
use crate::agents::acp::Wait;
use crate::agents::catalogue;
use crate::agents::process::HANDSHAKE_PATIENCE;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Longest time that may be asked for: a person has to act in it.
const LONGEST: f64 = 900.0;

/// How long the agent may take to leave once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let login = match body.required_text("action")?.as_str() {
        "login" => true,
        "logout" => false,
        _ => return Err(ApiError::invalid("action", "action must be login or logout")),
    };
    let method_id = body.text("method_id")?;
    let total = body.number("timeout_seconds")?.unwrap_or(300.0);
    if !(total > 0.0 && total <= LONGEST) {
        return Err(ApiError::invalid("timeout_seconds", "timeout_seconds must be above 0 and at most 900"));
    }
    let silence = Duration::from_secs(launch::limit(&call, |limits| limits.timeout_seconds, 180));
    let wait = Wait { silence: Some(silence), total: Some(Duration::from_secs_f64(total)) };
    let (starting, app, owner) = (Starting::of(&call)?, Arc::clone(call.app()), launch::owner(&call));
    let (process, _) = starting.start(None, HANDSHAKE_PATIENCE).await?;
    let agents = &starting.agents;
    let handshake =
        process.handshake().cloned().ok_or_else(|| ApiError::internal("There was no handshake"))?;
    let id = process.agent_id.clone();
    if !login {
        if !handshake.signs_out() {
            let error = ApiError::new(ErrorCode::CapabilityMissing, "The agent offers no sign-out");
            return Err(error.with("capability", "logout"));
        }
        let done = process.peer.request("logout", &json!({}), wait).await;
        done.map_err(|error| refused(agents, &process, error))?;
        process.stop(GRACE, false).await;
        catalogue::signed_in(agents.store().await?, id, false).await?;
        return Ok(Reply::ok(&json!({"status": "signed_out"})));
    }
    let method = sign_in::method(handshake.auth_methods(), method_id.as_deref())?;
    let text = |name: &str| method.get(name).and_then(Value::as_str).unwrap_or_default();
    if sign_in::kind(&method) == "terminal" {
        process.stop(GRACE, false).await;
        return sign_in::by_terminal(&starting, &app, owner, &method, wait).await;
    }
    if sign_in::kind(&method) == "env_var" {
        sign_in::check_variables(&starting, &method).await?;
    }
    let done = process.peer.request("authenticate", &json!({"methodId": text("id")}), wait).await;
    done.map_err(|error| refused(agents, &process, error))?;
    process.stop(GRACE, false).await;
    catalogue::signed_in(agents.store().await?, id, true).await?;
    Ok(Reply::ok(&json!({"status": "ready"})))
}
