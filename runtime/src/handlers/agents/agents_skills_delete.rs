//! Remove a stored skill.
//!
//! # Request
//! In the path: `name`.
//!
//! # Response
//! `{"name", "deleted", "removed_from"}`: the files that were taken out of workspaces. Files that were changed there stay.
//!
//! # Limits
//! None but rate and concurrency.
//!
//! # Errors
//! 404 `skill_not_found`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/skills/code-review
//! ```

use std::sync::Arc;

use serde_json::json;

use crate::agents::skills::{install, rows};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

pub(crate) async fn call(call: Call) -> Answer {
    let app = Arc::clone(call.app());
    let name = call.param("name")?.into_owned();
    drop(call);
    let asked = name.clone();
    if !app.agents.store().await?.write(move |db| rows::delete(db, &asked)).await? {
        return Err(ApiError::new(ErrorCode::SkillNotFound, "There is no such skill"));
    }
    let removed_from = install::remove_skill(&app, &name).await?;
    Ok(Reply::ok(&json!({"name": name, "deleted": true, "removed_from": removed_from})))
}
