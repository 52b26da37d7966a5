//! Call an agent extension method that this API does not model.
//!
//! # Request
//! `method` (required: a name that begins with `_`, or one that the agent's `allow_rpc` lists), `params` (`{}`; `sessionId`
//! is filled in), `timeout_seconds` (30).
//!
//! # Response
//! `{"result", "ms"}`, or `{"rpc_error": {code, message, data?}, "ms"}` where the agent refuses.
//!
//! # Limits
//! `limits.timeout_seconds` (45), `limits.max_request_bytes` (256 KB).
//!
//! # Errors
//! 400 `method_not_allowed`, `missing_parameter`, `invalid_parameter`; 404 `session_not_found`; 409
//! `session_disconnected`; 503 `agent_unavailable`; 504 `agent_timeout`.
//!
//! # Policy
//! Scope `agents:manage`, `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/sessions/ses_01JD0000000000000000000000/rpc \
//!   -H 'Content-Type: application/json' -d '{"method": "providers/list"}'
//! ```

use super::super::launch;
use crate::agents::acp::{RpcError, Wait};
use crate::agents::catalogue::is_core;
use crate::agents::process::no_answer;
use crate::agents::store::sessions;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let method = body.required_text("method")?;
    let mut params: Map<String, Value> = body.typed("params", "an object")?.unwrap_or_default();
    let asked = body.number("timeout_seconds")?;
    let time = launch::time(&call, "timeout_seconds", asked, 30, |limits| limits.timeout_seconds)?;
    let session_id = call.param("session_id")?.into_owned();
    let agents = Arc::clone(&call.app().agents);
    let asked = session_id.clone();
    let session = agents.store().await?.read(move |db| sessions::find(db, &asked)).await?;
    let session = session.ok_or_else(|| {
        ApiError::new(ErrorCode::SessionNotFound, "There is no such session")
            .with("session_id", session_id.clone())
    })?;
    let entry = agents.known(&session.agent_id).await?;
    let listed = || entry.definition.allow_rpc.contains(&method);
    if is_core(&method) || !(method.starts_with('_') || listed()) {
        let message = format!("The method `{method}` may not be called by hand");
        return Err(ApiError::new(ErrorCode::MethodNotAllowed, message).with("method", method));
    }
    let Some((process, native)) = agents.processes.of_session(&session_id) else {
        let error = ApiError::new(ErrorCode::SessionDisconnected, "No agent process serves the session");
        return Err(error.with("session_id", session_id));
    };
    params.insert("sessionId".to_owned(), native.into());
    let begun = Instant::now();
    let answer = process.peer.request(&method, &Value::Object(params), Wait::total(time)).await;
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut told = match answer {
        Ok(result) => json!({"result": result, "ms": ms}),
        Err(RpcError::Fault(fault)) => json!({"rpc_error": fault, "ms": ms}),
        Err(error) => return Err(no_answer(error)),
    };
    agents.masks.mask_json(&mut told);
    Ok(Reply::ok(&told))
}
