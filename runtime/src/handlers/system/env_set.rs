//! Set variables for later children.
//!
//! # Request
//! `vars` (required): an object of names and texts. All of them are set, or none.
//!
//! # Response
//! `{"updated": [NAME]}`, sorted. The server's own environment never changes.
//!
//! # Limits
//! `limits.max_request_bytes` (256 KB).
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `variable_not_allowed` for what is protected (PATH, HOME, USER,
//! SHELL), redirects traffic, belongs to the server, or makes a loader or interpreter run other code.
//!
//! # Policy
//! `params.allow_vars`, `params.deny_vars`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/env -H 'Content-Type: application/json' -d '{"vars": {"APP_MODE": "test"}}'
//! ```

use policy_lang::decide::{VariableQuery, VariableUse};
use serde_json::json;

use super::super::launch;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;

pub(crate) async fn call(mut call: Call) -> Answer {
    let vars = call.json().text_map("vars")?.ok_or_else(|| ApiError::missing("vars"))?;
    let environment = &call.app().processes.environment;
    for (name, value) in &vars {
        environment.check(name, value).map_err(|error| launch::variable(&call, "vars", &error))?;
    }
    let named: Vec<VariableQuery<'_>> =
        vars.keys().map(|name| VariableQuery { name, usage: VariableUse::Set }).collect();
    launch::ask_variables(&call, &named)?;
    let updated = environment.set(&vars).map_err(|error| launch::variable(&call, "vars", &error))?;
    Ok(Reply::ok(&json!({"updated": updated})))
}
