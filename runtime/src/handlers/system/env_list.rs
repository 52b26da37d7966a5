//! Environment without secrets.
//!
//! # Request
//! `filter` in the query: names to show, separated by commas; absent: all.
//!
//! # Response
//! `{"variables": {NAME: VALUE}}`: what a child would get now. Names that speak of a secret (TOKEN, SECRET, KEY, PASSWORD,
//! CREDENTIAL) are never shown, and the password inside a URL is masked.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! 400 `invalid_parameter`.
//!
//! # Policy
//! `params.allow_vars`, `params.deny_vars`: what they refuse is left out.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/env?filter=LANG,PATH'
//! ```

use serde_json::json;

use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let wanted: Option<Vec<&str>> = call
        .query()
        .text("filter")?
        .map(|names| names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
    let rules = call.permit().rules().and_then(|rules| rules.params.variables.as_deref());
    let mut shown = call.app().processes.environment.visible();
    shown.retain(|name, _| {
        wanted.as_ref().is_none_or(|wanted| wanted.contains(&name.as_str()))
            && rules.is_none_or(|rules| rules.refuses(name).is_none())
    });
    Ok(Reply::ok(&json!({"variables": shown})))
}
