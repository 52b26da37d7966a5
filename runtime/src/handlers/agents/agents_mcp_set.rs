//! Store or replace an MCP server definition.
//!
//! # Request
//! In the body: `name`; for a program `command`, `args`, `env`, `env_from` (variable → credential); for a URL `url`,
//! `transport` (`http` or `sse`; `http`), `headers`, `headers_from` (header → credential). `default_for`: `{"agents", "cwds"}`, the
//! sessions that are given the server without asking.
//!
//! # Response
//! `{"server": {…}}`, as the list has it.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB).
//!
//! # Errors
//! 400 `invalid_server`, 403 `command_not_allowed`, 403 `variable_not_allowed`, 403 `url_not_allowed`.
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands`, `params.allow_vars`, `params.deny_vars`, `params.env_deny`,
//! `params.url_allow`, `params.url_deny`, `params.block_private_networks`, `limits`. They are asked again whenever the server
//! is used.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/mcp \
//!   --json '{"name": "docs", "url": "https://mcp.example.com/", "headers_from": {"Authorization": "docs-token"}}'
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::mcp::definition::{Definition, is_name};
use crate::agents::mcp::entries::admit;
use crate::agents::mcp::rows;
use crate::agents::process::Judge;
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let name = body.required_text("name")?;
    let wrong = |why: String| ApiError::new(ErrorCode::InvalidServer, why);
    if !is_name(&name) {
        let why = "name must be 1 to 64 letters, digits, `-` and `_`".to_owned();
        return Err(wrong(why).with("parameter", "name"));
    }
    let definition = Definition::read(&mut body.into_members()).map_err(wrong)?;
    let (app, judge) = (Arc::clone(call.app()), Judge::of(call.permit()));
    drop(call);
    admit(&app, &judge, &definition).await?;
    let store = app.agents.store().await?;
    let stored = store.write(move |db| {
        rows::put(db, &name, &definition, now())?;
        rows::find(db, &name)
    });
    Ok(Reply::ok(&json!({"server": stored.await?.map(|server| server.view())})))
}
