//! Read an agent process's stderr and stray stdout lines.
//!
//! # Request
//! The id in the path. Query: `after` (line number, 0), `limit` (200).
//!
//! # Response
//! `{"lines": [{n, ts, stream, text}], "next_after", "dropped"}`. `stream` is `stderr`, `stdout_noise` (a line that is no
//! message, or a message that nobody waits for), and, where the session was opened with `trace`, `frame_in` and
//! `frame_out`. `dropped` counts lines after `after` that have made room. Known secrets are replaced by `***`. Of stray lines
//! the sessions of the process are told too, by the event `process.noise`.
//!
//! # Limits
//! `limits.max_entries` lines (200); about 4 MB are kept of each process, also after its end.
//!
//! # Errors
//! 400 `invalid_parameter`; 404 `process_not_found`.
//!
//! # Policy
//! Scope `agents:read`.
//!
//! ```sh
//! curl 'http://localhost:9000/agents/processes/prc_01JD0000000000000000000000/logs?after=100'
//! ```

use super::super::launch;
use super::{blocking, no_process};
use crate::agents::ids;
use crate::agents::process::Logs;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use std::sync::Arc;

pub(crate) async fn call(call: Call) -> Answer {
    let id = call.param("process_id")?.into_owned();
    let after = call.query().count("after")?.unwrap_or(0);
    let most = launch::limit(&call, |limits| limits.max_entries, 200);
    let limit = match call.query().count("limit")? {
        Some(0) => return Err(ApiError::invalid("limit", "limit must be at least 1")),
        limit => limit.unwrap_or(200).min(most),
    };
    // Nothing but such a name becomes part of a path.
    if !ids::is(ids::PROCESS, &id) {
        return Err(no_process(&id));
    }
    let (agents, name) = (Arc::clone(&call.app().agents), id.clone());
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = blocking(move || Logs::read(agents.processes.folder(), &name, after, limit)).await?;
    page.map(|page| Reply::ok(&page)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => no_process(&id),
        _ => ApiError::internal("The log of the process cannot be read"),
    })
}
