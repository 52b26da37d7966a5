//! Managed background processes.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"processes": [{"pid", "command", "state", "started_at", "exit_code"}]}`, oldest first. `state` is `running`,
//! `exited` (for ten minutes after the end) or `orphan`: what a command left running when it ended.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! The common keys. A caller sees its own processes; one that holds `*` sees all.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/process/list
//! ```

use std::sync::Arc;

use serde_json::json;

use super::managed::Shown;
use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(call: Call) -> Answer {
    let (processes, principal) = (Arc::clone(&call.app().processes), Arc::clone(call.principal()));
    let mut shown: Vec<Shown> =
        processes.list(|owner| principal.sees(owner)).iter().map(|job| Shown::of(job)).collect();
    // Orphans are found by reading the whole process table.
    let orphans = tokio::task::spawn_blocking(move || processes.orphans(|owner| principal.sees(owner)));
    shown.extend(orphans.await.unwrap_or_default().iter().map(Shown::orphan));
    Ok(Reply::ok(&json!({"processes": shown})))
}
