//! `POST …/execute/stream/start` and `…/resume`, and `GET …/execute/ws`: a command whose caller may come back.
//!
//! As events: lossless bytes in base64, acknowledged by coming back with offsets. As a socket: text, acknowledged by the
//! pongs that every WebSocket client answers pings with. Both may be used on one command.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::process::streaming;
use super::super::resumable;
use super::super::until::until;
use super::opening::{self, Opened};
use crate::command_socket::{self, First, MAX_MESSAGE, Refusal, Terms};
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::Stdin;
use crate::sse::{Feed, Style};

pub(in super::super) async fn call(mut call: Call) -> Answer {
    if call.door().upgrade {
        return Ok(socket(call));
    }
    let mut body = call.json();
    let (Opened { id, attachment }, from) = if call.door().path.ends_with("/resume") {
        let id = resumable::id(&mut body)?.ok_or_else(|| ApiError::missing("command_id"))?;
        let from = resumable::offsets(&body)?;
        (opening::find(&call, id)?, from)
    } else {
        let input = stdin(&mut body)?;
        (opening::open(&call, &mut body, input, false)?, [0, 0])
    };
    let job = Arc::clone(&attachment.job);
    resumable::check_offsets(&job, from)?;
    attachment.acknowledge(from);
    let feed = Feed::new(job, from, Style::Bytes, call.app().stopping.clone(), attachment);
    Ok(streaming::reply(feed.resumable(id)))
}

/// The whole input of a command: base64, then end of file.
fn stdin(body: &mut JsonBody) -> Result<Stdin, ApiError> {
    let Some(text) = body.text("stdin")? else { return Ok(Stdin::Empty) };
    let decoded = STANDARD.decode(text);
    decoded.map(Stdin::Bytes).map_err(|_| ApiError::invalid("stdin", "stdin must be standard base64"))
}

fn socket(call: Call) -> Reply {
    let terms = Terms { until: until(&call), note: call.note().clone() };
    let open = move |first| open(&call, first).map_err(|error| refusal(&error));
    Reply::websocket(MAX_MESSAGE, move |socket| command_socket::serve(socket, open, terms))
}

/// What a socket is attached to, by the client's first frame.
fn open(call: &Call, first: First) -> Result<command_socket::Opened, ApiError> {
    let (opened, offsets, kill_on_disconnect) = match first {
        First::Reconnect { command_id, offsets } => (opening::find(call, command_id)?, offsets, false),
        First::Execute(members) => {
            let mut body = JsonBody::new(members);
            let terminal = body.flag("pty", false)?;
            let closed = body.flag("close_stdin", false)? && !terminal;
            let kill_on_disconnect = body.flag("kill_on_disconnect", false)?;
            let input = if closed { Stdin::Empty } else { Stdin::Open };
            (opening::open(call, &mut body, input, terminal)?, [0, 0], kill_on_disconnect)
        }
    };
    let Opened { id, attachment } = opened;
    let place = attachment.text_place(offsets).map_err(resumable::past_the_end)?;
    attachment.may_free(place.from);
    Ok(command_socket::Opened { command_id: id, attachment, place, kill_on_disconnect })
}

/// The error types that clients know.
fn refusal(error: &ApiError) -> Refusal {
    let kind = if error.code() == ErrorCode::NotFound { "CommandNotFound" } else { "CommandError" };
    Refusal { kind, message: error.message().to_owned() }
}
