//! Forget a credential.
//!
//! # Request
//! The name in the path.
//!
//! # Response
//! `{"name", "deleted": true, "running_processes_using"}`: processes that were started with it still hold it.
//!
//! # Limits
//! None.
//!
//! # Errors
//! 404 `credential_not_found`.
//!
//! # Policy
//! Scope `agents:manage`.
//!
//! ```sh
//! curl -X DELETE http://localhost:9000/agents/credentials/ANTHROPIC_API_KEY
//! ```

use super::{blocking, unreadable};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let name = call.param("name")?.into_owned();
    let agents = Arc::clone(&call.app().agents);
    let asked = name.clone();
    let deleted = blocking(move || agents.credentials.delete(&asked)).await?.map_err(|_| unreadable())?;
    if !deleted {
        let message = format!("There is no credential `{name}`");
        return Err(ApiError::new(ErrorCode::CredentialNotFound, message).with("name", name));
    }
    let living = call.app().agents.processes.living();
    let using: Vec<&str> = living
        .iter()
        .filter(|process| process.credentials.contains(&name))
        .map(|process| process.id.as_str())
        .collect();
    Ok(Reply::ok(&json!({"name": name, "deleted": true, "running_processes_using": using})))
}
