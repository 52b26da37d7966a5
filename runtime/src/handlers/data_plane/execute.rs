//! `POST …/execute`: a command run to its end, as JSON.
//!
//! `command` is an argument list, or a string that `shell` (`/bin/bash`, or `/bin/sh` where there is none) runs. A command
//! that ran out of time is an answer with `timed_out`, not an error: what it did before stands.

use std::sync::Arc;

use serde::Serialize;

use super::super::{launch, resumable};
use super::asked::{self, Manner};
use crate::endpoint::{Answer, Call, Reply};
use crate::process::{EndOnDrop, Full, Kind, Stdin, Stream};

/// Bytes kept of each stream where the rules say nothing.
const OUTPUT: u64 = 16 << 20;

#[derive(Debug, Serialize)]
struct Response {
    stdout: String,
    stderr: String,
    exit_code: i32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stdout_truncated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stderr_truncated: bool,
}

pub(in super::super) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let lifetime = resumable::time(&call, &body, false)?;
    let keep = launch::limit(&call, |limits| limits.max_output_bytes, OUTPUT);
    let manner = Manner {
        input: Stdin::Empty,
        terminal: false,
        keep: usize::try_from(keep).unwrap_or(usize::MAX),
        full: Full::KeepHead,
        lifetime,
        kind: Kind::Call,
    };
    let job = asked::start(&call, &mut body, manner, None)?;
    let _end = EndOnDrop(Arc::clone(&job));
    let exit = job.ended().await;
    let log = job.log();
    let text = |stream| String::from_utf8_lossy(&log.slice(stream, 0, usize::MAX).1).into_owned();
    Ok(Reply::ok(&Response {
        stdout: text(Stream::Stdout),
        stderr: text(Stream::Stderr),
        exit_code: exit.exit_code(),
        timed_out: exit.timed_out(),
        signal: exit.signal,
        stdout_truncated: log.truncated(Stream::Stdout),
        stderr_truncated: log.truncated(Stream::Stderr),
    }))
}
