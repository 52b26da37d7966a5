//! List known agents with install, version and sign-in state.
//!
//! # Request
//! Query: `installed` (only those whose program is here, or is not), `limit`, `cursor`.
//!
//! # Response
//! `{"agents": [{id, name, kind, command, installed, version?, auth, missing_credentials, capabilities?, sessions_open,
//! node_min?}], "next_cursor"?}`, by id. `version` and `capabilities` are those of the last handshake; `auth` is `ready`,
//! `missing` or `unknown`.
//!
//! # Limits
//! `limits.max_entries` of one page (200).
//!
//! # Errors
//! 400 `invalid_parameter`, `invalid_cursor`.
//!
//! # Policy
//! Scope `agents:read`, `limits`.
//!
//! ```sh
//! curl 'http://localhost:9000/agents/catalog?installed=true'
//! ```

use super::super::launch;
use super::blocking;
use crate::agents::catalogue;
use crate::agents::store::page::Page;
use crate::endpoint::{Answer, Call, Reply};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let query = call.query();
    let most = launch::limit(&call, |limits| limits.max_entries, 200);
    let limit = query.count("limit")?;
    let page = Page::new("agents", limit, query.text("cursor")?, most)?;
    let wanted = match query.text("installed")? {
        None | Some("") => None,
        Some(_) => Some(query.flag("installed", true)?),
    };
    let agents = Arc::clone(&call.app().agents);
    let entries = catalogue::list(agents.store().await?, page.after.clone()).await?;
    let limit = page.limit;
    let mut shown: Vec<Value> = blocking(move || {
        let programs = &agents.engine.programs;
        let fits =
            entries.iter().filter(|entry| wanted.is_none_or(|yes| entry.is_installed(programs) == yes));
        fits.take(limit.saturating_add(1)).map(|entry| entry.shown(programs, &agents.credentials)).collect()
    })
    .await?;
    let id = |agent: &Value| agent.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let next = page.next("agents", &mut shown, id);
    let mut answer = json!({"agents": shown});
    if let (Some(next), Some(answer)) = (next, answer.as_object_mut()) {
        answer.insert("next_cursor".to_owned(), next.into());
    }
    Ok(Reply::ok(&answer))
}
