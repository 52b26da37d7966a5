//! `POST …/execute`: a command run to its end, as JSON.
//!
//! `command` is an argument list, or a string that `shell` (`/bin/bash`, or `/bin/sh` where there is none) runs. A command
//! that ran out of time is an answer with `timed_out`, not an error: what it did before stands.

use serde::Serialize;

use super::super::launch::{Manner, Output};
use super::super::resumable;
use super::asked;
use crate::endpoint::{Answer, Call, Reply};

#[derive(Debug, Serialize)]
struct Response {
    #[serde(flatten)]
    output: Output,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
}

pub(in super::super) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let lifetime = resumable::time(&call, &body, false)?;
    let job = asked::start(&call, &mut body, Manner::of_a_call(&call, lifetime), None)?;
    let ended = job.to_end().await;
    Ok(Reply::ok(&Response { timed_out: ended.exit.timed_out(), output: ended.into() }))
}
