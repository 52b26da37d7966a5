//! Start the agent, do the handshake, report and stop it.
//!
//! # Request
//! `session` (false: also open an empty session), `cwd` (else the agent's own, else `base_dir`), `timeout_seconds` (30).
//!
//! # Response
//! `{"ok", "ms", "protocol_version", "agent_info", "agent_capabilities", "auth_methods", "session_ok"?, "session_error"?,
//! "stderr_tail", "exit_code"?}`. The handshake is remembered for the catalogue.
//!
//! # Limits
//! `limits.timeout_seconds` (180): what may be asked for, and the silence that the opening of a session may take.
//!
//! # Errors
//! 404 `agent_not_found`; 409 `agent_not_installed`; 403 `command_not_allowed`, `variable_not_allowed`,
//! `path_not_allowed`; 429 `too_many_processes`; 502 `agent_protocol_error`; 503 `agent_unavailable` (it ended by itself,
//! with `exit_code`); 504 `agent_timeout`. The last three have `stderr_tail`.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.allow_vars`, `params.deny_vars`, `params.env_deny`, `paths`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/agents/catalog/opencode/probe -H 'Content-Type: application/json' -d '{}'
//! ```

use super::super::launch;
use super::catalogued::Starting;
use crate::agents::acp::{RpcError, Wait};
use crate::agents::process::AgentProcess;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How long the agent may take to leave once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn call(mut call: Call) -> Answer {
    let body = &mut call.json();
    let time =
        launch::time(&call, "timeout_seconds", body.number("timeout_seconds")?, 30, |l| l.timeout_seconds)?;
    let session = body.flag("session", false)?;
    let cwd = body.text("cwd")?;
    let silence = launch::limit(&call, |limits| limits.timeout_seconds, 180);
    let starting = Starting::of(&call)?;
    let (process, place) = starting.start(cwd.as_deref(), Wait::total(time)).await?;
    let mut report = Map::new();
    if session {
        match open_and_close(&process, &place, Wait::silence(Duration::from_secs(silence))).await {
            Ok(()) => drop(report.insert("session_ok".to_owned(), true.into())),
            Err(error) => {
                let error = match error {
                    RpcError::Fault(fault) => json!(fault),
                    other => json!({"message": other.to_string()}),
                };
                report.insert("session_ok".to_owned(), false.into());
                report.insert("session_error".to_owned(), error);
            }
        }
    }
    let stopped = process.stop(GRACE, false).await;
    let mut answer = process.handshake().map(|handshake| handshake.shown()).unwrap_or_default();
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("at");
        answer.remove("extensions");
        answer.insert("ok".to_owned(), true.into());
        answer.append(&mut report);
        answer.insert("stderr_tail".to_owned(), process.logs.stderr_tail().into());
        answer.extend(stopped.ended.exit_code.map(|code| ("exit_code".to_owned(), code.into())));
    }
    starting.agents.masks.mask_json(&mut answer);
    Ok(Reply::ok(&answer))
}

async fn open_and_close(process: &AgentProcess, cwd: &str, wait: Wait) -> Result<(), RpcError> {
    let new = json!({"cwd": cwd, "mcpServers": []});
    let opened = process.peer.request("session/new", &new, wait).await?;
    if process.handshake().is_some_and(|handshake| handshake.can("close")) {
        let session = opened.get("sessionId").cloned().unwrap_or(Value::Null);
        process.peer.request("session/close", &json!({"sessionId": session}), wait).await?;
    }
    Ok(())
}
