//! Run a command, output as events; resumable with a command_id.
//!
//! # Request
//! `command`, `cwd`, `env`, `timeout` as on `/shell`; `stdin` (base64, written once, then end of file). With
//! `command_id` the command can be come back to: a known id attaches instead of starting, and without `command` it only
//! attaches. `stdout_offset` and `stderr_offset` say where to go on and acknowledge everything before. `timeout_seconds`
//! (0: as long as the rules allow), `idle_timeout_seconds` (0: 300), `ttl_seconds` (0: 600; -1: as long as the rules allow).
//! `format: "bytes"` selects lossless events.
//!
//! # Response
//! `text/event-stream`: `stdout{data}` and `stderr{data}`, a line each and in the order they came, then `exit{exit_code}`
//! or `error{error, type}`. With a `command_id` each carries `offset`, and `ack_required{stdout_offset, stderr_offset}`
//! ends the answer when 1 MiB waits for an acknowledgement. As bytes: `started{command_id, pid}`,
//! `stdout|stderr{data, offset}` in base64, `stream_end{stream, offset}`, then `exit`, `ack_required` or
//! `error{error_type, error}`. A comment every 15 s keeps a silent answer open.
//!
//! # Limits
//! `limits.timeout_seconds`, `limits.max_duration_seconds` (86400 each), `limits.max_concurrency` (64),
//! `limits.max_output_bytes` of each stream that wait for a reader (1 MiB); 256 commands with an id for each principal.
//!
//! # Errors
//! As `/shell`, and 404 `not_found` for an id that is not known, 409 `conflict` for an offset past the end. A timeout is
//! an event.
//!
//! # Policy
//! `paths` (of `cwd`), `params.allow_commands`, `params.deny_commands`, `params.env_deny`, `limits`.
//!
//! ```sh
//! curl -N -X POST http://localhost:9000/shell/stream -H 'Content-Type: application/json' \
//!   -d '{"command": "sh -c \"echo hello; echo err >&2\"", "timeout": 30}'
//! ```

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use policy_lang::endpoint::ErrorStyle;

use super::super::launch::{self, Judged, Manner};
use super::super::{data_plane, resumable};
use super::streaming;
use crate::endpoint::{Answer, Call, JsonBody};
use crate::error::ApiError;
use crate::process::{EndOnDrop, Full, Job, Kind, Screen, Stdin};
use crate::sse::{Feed, Style};

pub(crate) async fn call(mut call: Call) -> Answer {
    if call.door().errors == ErrorStyle::Detail {
        return data_plane::stream(call).await;
    }
    let mut body = call.json();
    let id = resumable::id(&mut body)?;
    let format = body.text("format")?;
    let from = resumable::offsets(&body)?;
    let style = match format.as_deref() {
        None | Some("lines") => Style::Lines { offsets: id.is_some() },
        Some("bytes") => Style::Bytes,
        Some(_) => return Err(ApiError::invalid("format", "format must be lines or bytes")),
    };
    let Some(id) = id else {
        let job = start(&call, &mut body, Kind::Call)?;
        let end = EndOnDrop(Arc::clone(&job));
        return Ok(streaming::reply(Feed::new(job, [0, 0], style, call.app().stopping.clone(), end)));
    };
    let attached = match resumable::find(&call, &id) {
        Err(_) if body.get("command").is_some() => {
            let patience = resumable::patience(&call, &body)?;
            resumable::get_or_start(&call, &id, patience, || start(&call, &mut body, Kind::Command))?
        }
        found => found?,
    };
    let job = Arc::clone(&attached.job);
    resumable::check_offsets(&job, from)?;
    attached.acknowledge(from);
    let feed = Feed::new(job, from, style, call.app().stopping.clone(), attached).resumable(id);
    Ok(streaming::reply(feed))
}

/// Starts the command of the body.
fn start(call: &Call, body: &mut JsonBody, kind: Kind) -> Result<Arc<Job>, ApiError> {
    let words = launch::command(body)?;
    let time = resumable::time(call, body, kind == Kind::Command)?;
    let input = match body.text("stdin")? {
        None => Stdin::Empty,
        Some(text) => Stdin::Bytes(
            STANDARD.decode(text).map_err(|_| ApiError::invalid("stdin", "stdin must be standard base64"))?,
        ),
    };
    let manner = Manner {
        input,
        screen: Screen::Pipes,
        keep: resumable::buffer(call),
        full: Full::Pause,
        lifetime: Some(time),
        kind,
    };
    Judged::of(call, words, body)?.start(call, manner)
}
