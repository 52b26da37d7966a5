//! Remove an MCP server definition.
//!
//! # Request
//! In the path: `name`.
//!
//! # Response
//! `{"name", "deleted", "sessions_using"}`: sessions that were given the server keep it until they end.
//!
//! # Limits
//! None but rate and concurrency.
//!
//! # Errors
//! 404 `server_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/mcp/docs
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::mcp::rows;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(call: Call) -> Answer {
    let app = Arc::clone(call.app());
    let name = call.param("name")?.into_owned();
    drop(call);
    let asked = name.clone();
    let store = app.agents.store().await?;
    let done = store.write(move |db| {
        let Some(server) = rows::find(db, &asked)? else { return Ok(None) };
        rows::delete(db, &asked)?;
        rows::sessions_using(db, &server).map(Some)
    });
    let Some(sessions_using) = done.await? else {
        return Err(ApiError::new(ErrorCode::ServerNotFound, "There is no such MCP server"));
    };
    Ok(Reply::ok(&json!({"name": name, "deleted": true, "sessions_using": sessions_using})))
}
