//! Start a background process.
//!
//! # Request
//! `command` (required; words as on `/shell`), `cwd`, `env`, `stdin` (`true` keeps standard input open for
//! `/process/{pid}/input`; else it is at its end from the start).
//!
//! # Response
//! `{"pid", "command"}`, values after secret-named flags masked.
//!
//! # Limits
//! 100 running processes; `limits.max_duration_seconds` of one; `limits.max_output_bytes` kept of each stream (1 MiB).
//!
//! # Errors
//! As `/shell`, and 429 `too_many_processes`.
//!
//! # Policy
//! `paths` (of `cwd`), `params.allow_commands`, `params.deny_commands`, `params.env_deny`, `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/process/start -H 'Content-Type: application/json' -d '{"command": "sleep 60"}'
//! ```

use std::time::Duration;

use serde_json::json;

use super::super::launch::{self, Judged, Manner};
use crate::endpoint::{Answer, Call, Reply};
use crate::process::{Full, Kind, Screen, Stdin};

/// Bytes kept of each stream where the rules say nothing.
const OUTPUT: u64 = 1 << 20;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let words = launch::command(&mut body)?;
    let input = if body.flag("stdin", false)? { Stdin::Open } else { Stdin::Empty };
    let judged = Judged::of(&call, words, &mut body)?;
    let limits = call.permit().rules().map(|rules| rules.limits);
    let keep = launch::limit(&call, |limits| limits.max_output_bytes, OUTPUT);
    let manner = Manner {
        input,
        screen: Screen::Pipes,
        keep: usize::try_from(keep).unwrap_or(usize::MAX),
        full: Full::DropOldest,
        lifetime: limits
            .and_then(|limits| limits.max_duration_seconds)
            .map(|limit| Duration::from_secs(limit.value)),
        kind: Kind::Managed,
    };
    let job = judged.start(&call, manner)?;
    Ok(Reply::ok(&json!({"pid": job.pid, "command": job.title})))
}
