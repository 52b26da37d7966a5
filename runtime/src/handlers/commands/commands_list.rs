//! Registered commands that this caller may run, with their arguments.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"commands": [{"name", "description", "args": [{"name", "type", "required", "default", "description"}]}]}`, by name;
//! `default` is null where there is none. Hidden commands are left out, and those whose scopes the caller lacks.
//!
//! # Limits
//! `limits.rate_per_minute`.
//!
//! # Errors
//! 401 `unauthorized`, 429 `rate_limited`.
//!
//! # Policy
//! `scopes`, `audit`, `limits`. Whether `commands_run` is open has no say here.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/commands
//! ```

use crate::app::index;
use crate::commands::{Argument, Command};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use policy_lang::endpoint::EndpointId;
use serde_json::{Value, json};

pub(crate) async fn call(call: Call) -> Answer {
    let policy = &call.permit().state().policy;
    let running = policy.endpoint(index(EndpointId::CommandsRun));
    let running = running.ok_or_else(|| ApiError::internal("The endpoint is unknown to the policy"))?;
    let (registry, holder) = (&call.app().commands.registry, &call.principal().scopes);
    let commands: Vec<Value> = registry.listed(holder, &running.scopes.value).map(shown).collect();
    Ok(Reply::ok(&json!({"commands": commands})))
}

fn shown(command: &Command) -> Value {
    let argument = |argument: &Argument| {
        json!({
            "name": argument.name,
            "type": argument.kind.as_str(),
            "required": argument.required,
            "default": argument.default,
            "description": argument.description,
        })
    };
    let args: Vec<Value> = command.arguments.iter().map(argument).collect();
    json!({"name": command.name, "description": command.description, "args": args})
}
