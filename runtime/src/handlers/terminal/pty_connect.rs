//! Attach to a session over WebSocket, on the PTY port.
//!
//! # Request
//! An upgrade with `session_id` in the query; `offset` (0) says where in the scrollback to begin, and `takeover=false`
//! refuses rather than send away whoever is attached. Then text frames of JSON: `input{data}`, `resize{cols, rows}`,
//! `signal{signal}`. What is no such frame is dropped.
//! A page that `--allow-origin` names offers the subprotocols `abx` and `bearer.` with its token in base64url behind it.
//!
//! # Response
//! Text frames: `event{event: "started", session_id, pid}` first, `output{data, offset}`, and
//! `event{event: "exited", session_id, exit_code}` last, after the last output. A frame holds whole characters; `offset`
//! counts bytes. What a key would do, SIGINT and SIGQUIT do: they go to the foreground of the terminal. Close codes: 1000
//! after the end, 1001 the server stops or the client is silent, 1003 a binary frame, 1008 a limit, 1009 a frame too big,
//! 4001 another client took over.
//!
//! # Limits
//! `limits.max_duration_seconds` of a socket (86400), `limits.max_concurrency` (20); messages of 1 MiB. A client that does
//! not read holds the terminal, and nothing is lost.
//!
//! # Errors
//! Before the upgrade: 400 `missing_parameter`; 404 `not_found`; 409 `conflict` with `takeover=false`.
//!
//! # Policy
//! `params.allowed_signals`, `limits`.
//!
//! ```sh
//! websocat -H "X-Access-Token: $ABX_SERVER_TOKEN" 'ws://localhost:9001/pty?session_id=ID'
//! ```

use super::super::until::until;
use super::sessions;
use crate::auth::SOCKET;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::Stream;
use crate::pty::socket::{self, MAX_MESSAGE, READ, Rules};

pub(crate) async fn call(call: Call) -> Answer {
    let query = call.query();
    let session = sessions::find(&call, query.required("session_id")?)?;
    let offset = query.count("offset")?.unwrap_or(0);
    if offset > session.job.log().end(Stream::Stdout) {
        return Err(ApiError::new(ErrorCode::Conflict, "offset lies past the end of the output")
            .with("parameter", "offset"));
    }
    // From here on, and not only once the socket is open: whoever has been answered is attached.
    let attached = session
        .attach(query.flag("takeover", true)?)
        .ok_or_else(|| ApiError::new(ErrorCode::Conflict, "Another client is attached to this session"))?;
    let (permit, until) = (call.permit().clone(), until(&call));
    let signal = Box::new(move |number| {
        let mut query = permit.query();
        query.signal = Some(number);
        permit.check(&query).is_ok()
    });
    Ok(Reply::websocket(MAX_MESSAGE, move |socket| {
        socket::serve(socket, attached, offset, Rules { signal, until })
    })
    .reading(READ)
    .speaking(SOCKET))
}
