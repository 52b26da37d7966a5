//! How a failure of a session or its agent becomes an answer.

use super::budget::Budget;
use crate::agents::acp::{RpcError, RpcFault, code};
use crate::agents::options::OptionView;
use crate::agents::process::{AgentProcess, no_answer};
use crate::agents::rules::PermissionPolicy;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Value, json};

/// The answer where an agent refused or did not answer.
#[must_use]
pub fn of_rpc(process: &AgentProcess, error: RpcError) -> ApiError {
    match error {
        RpcError::Fault(fault) if fault.code == code::AUTH_REQUIRED => {
            let methods = process.handshake().map(|handshake| handshake.auth_methods().to_vec());
            ApiError::new(ErrorCode::AgentAuthRequired, "The agent wants to be signed in first")
                .with("auth_methods", methods.unwrap_or_default())
        }
        RpcError::Fault(mut fault) => {
            let masks = process.logs.masks();
            fault.message = masks.mask(&fault.message).into_owned();
            fault.data.iter_mut().for_each(|data| masks.mask_json(data));
            no_answer(RpcError::Fault(fault))
        }
        error => no_answer(error).with("stderr_tail", process.logs.stderr_tail()),
    }
}

/// A fault as callers see it.
#[must_use]
pub fn view(fault: &RpcFault) -> Value {
    json!(fault)
}

/// 502 for an answer that is none.
#[must_use]
pub fn protocol(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::AgentProtocolError, message)
}

/// 404 for a session that is not there.
#[must_use]
pub fn no_session(session_id: &str) -> ApiError {
    ApiError::new(ErrorCode::SessionNotFound, "No such session").with("session_id", session_id)
}

/// 409 where a live agent is needed.
#[must_use]
pub fn disconnected() -> ApiError {
    ApiError::new(ErrorCode::SessionDisconnected, "The session's agent is not running")
}

/// 404 for an option that the agent does not have.
#[must_use]
pub fn no_option(key: &str) -> ApiError {
    ApiError::new(ErrorCode::OptionNotFound, format!("The agent has no option `{key}`"))
        .with("option_id", key)
}

/// Whether a value may be chosen.
///
/// # Errors
/// 400 `invalid_value` with the choices, 403 `mode_denied` for a mode without questions that the policy forbids.
pub fn check_choice(view: &OptionView, value: &Value, policy: &PermissionPolicy) -> Result<(), ApiError> {
    if !view.takes(value) {
        return Err(ApiError::new(
            ErrorCode::InvalidValue,
            format!("`{}` cannot be set to that", view.option_id),
        )
        .with("option_id", view.option_id.as_str())
        .with("choices", json!(view.choices)));
    }
    if view.bypasses(value) && !policy.may_bypass() {
        let message = "The session's policy forbids modes in which the agent asks nobody";
        return Err(ApiError::new(ErrorCode::ModeDenied, message).with("option_id", view.option_id.as_str()));
    }
    Ok(())
}

/// A policy of a request.
///
/// # Errors
/// 400 `invalid_request`.
pub fn policy(given: Value) -> Result<PermissionPolicy, ApiError> {
    let wrong =
        |message: String| ApiError::new(ErrorCode::InvalidRequest, message).with("parameter", "policy");
    if !given.is_object() {
        return Err(wrong("policy must be an object".to_owned()));
    }
    let policy: PermissionPolicy =
        serde_json::from_value(given).map_err(|error| wrong(format!("policy: {error}")))?;
    policy.check().map_err(|why| wrong(why.to_owned()))?;
    Ok(policy)
}

/// A budget of a request.
///
/// # Errors
/// 400 `invalid_request`.
pub fn budget(given: Value) -> Result<Budget, ApiError> {
    let wrong =
        |message: String| ApiError::new(ErrorCode::InvalidRequest, message).with("parameter", "budget");
    if !given.is_object() {
        return Err(wrong("budget must be an object".to_owned()));
    }
    let budget: Budget = serde_json::from_value(given).map_err(|error| wrong(format!("budget: {error}")))?;
    budget.check().map_err(|why| wrong(why.to_owned()))?;
    Ok(budget)
}
