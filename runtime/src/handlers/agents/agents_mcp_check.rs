//! Connect to an MCP server and list its tools.
//!
//! # Request
//! In the path: `name`. In the body: `timeout_seconds` (60).
//!
//! # Response
//! `{"ok": true, "ms", "server_info", "tools": [{"name", "description"}], "stderr_tail"?}`. A program runs in the base directory and is
//! ended afterwards. What was found is kept as `last_check` of the server.
//!
//! # Limits
//! `limits.timeout_seconds` (180) bounds the asked one.
//!
//! # Errors
//! 404 `server_not_found`, 502 `mcp_check_failed` (with `stderr_tail`), 504 `mcp_timeout`, and what the policy refuses.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.env_deny`, `params.url_allow`, `params.url_deny`,
//! `params.block_private_networks`, `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/mcp/docs/check
//! ```

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::launch;
use crate::agents::mcp::check::{Failed, Why, check};
use crate::agents::mcp::entries::{admit, values};
use crate::agents::mcp::rows;
use crate::agents::process::Judge;
use crate::agents::store::now;
use crate::app::App;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(mut call: Call) -> Answer {
    let asked = call.json().number("timeout_seconds")?;
    let time = launch::time(&call, "timeout_seconds", asked, 60, |limits| limits.timeout_seconds)?;
    let (app, judge) = (Arc::clone(call.app()), Judge::of(call.permit()));
    let name = call.param("name")?.into_owned();
    drop(call);
    let asked = name.clone();
    let server = app.agents.store().await?.read(move |db| rows::find(db, &asked)).await?;
    let server =
        server.ok_or_else(|| ApiError::new(ErrorCode::ServerNotFound, "There is no such MCP server"))?;
    admit(&app, &judge, &server.definition).await?;
    let values = values(&app, &judge, &server.definition.way)?;
    match check(&app, judge, &server.definition.way, values, time).await {
        Ok(found) => {
            remember(
                &app,
                name,
                json!({"at": now(), "ok": true, "ms": found.ms, "tools": found.tools.len()}),
            )
            .await?;
            let mut answer = json!({
                "ok": true,
                "ms": found.ms,
                "server_info": found.server_info,
                "tools": found.tools,
            });
            if let (Some(tail), Some(answer)) = (found.stderr_tail, answer.as_object_mut()) {
                answer.insert("stderr_tail".to_owned(), tail.into());
            }
            Ok(Reply::ok(&answer))
        }
        Err(Failed { why, stderr_tail }) => {
            let error = match why {
                Why::Refused(refused) => refused,
                Why::TimedOut => ApiError::new(ErrorCode::McpTimeout, "The MCP server took too long"),
                Why::Broken(why) => {
                    ApiError::new(ErrorCode::McpCheckFailed, app.agents.masks.mask(&why).into_owned())
                }
            };
            remember(&app, name, json!({"at": now(), "ok": false, "error": error.code().as_str()})).await?;
            Err(match stderr_tail {
                Some(tail) => error.with("stderr_tail", tail),
                None => error,
            })
        }
    }
}

async fn remember(app: &Arc<App>, name: String, found: Value) -> Result<(), ApiError> {
    Ok(app.agents.store().await?.write(move |db| rows::checked(db, &name, &found)).await?)
}
