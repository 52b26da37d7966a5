//! Byte tunnel to a loopback TCP port, over WebSocket.
//!
//! # Request
//! An upgrade with the port in the header `X-Sandbox-Port`. Then binary frames: the bytes for the port.
//!
//! # Response
//! Binary frames: the bytes from the port. The socket is closed with 1000 when either side has ended, 1008 at a limit.
//!
//! # Limits
//! `limits.max_bytes` both ways together, `limits.max_duration_seconds` (86400), `limits.max_concurrency` (16). Without
//! `params.allow_ports`, ports from 1024 up; the server's own never.
//!
//! # Errors
//! Before the upgrade: 400 `missing_parameter`, `invalid_parameter`; 403 `port_not_allowed`; 404 `not_found` where nothing
//! listens. Without the header the socket would carry many streams: 503 `endpoint_not_built` for now.
//!
//! # Policy
//! `params.allow_ports`, `params.deny_ports`, `limits`.
//!
//! ```sh
//! websocat --binary -H 'X-Sandbox-Port: 8080' ws://localhost:9000/tunnel
//! ```

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::net::TcpStream;

use super::super::launch;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::tunnel::{self, MAX_MESSAGE};

/// The header that names the port.
const PORT: &str = "x-sandbox-port";

/// How long a tunnel may be open where the rules say nothing.
const LONGEST: u64 = 86400;

/// How long a port may take to accept.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) async fn call(call: Call) -> Answer {
    let Some(value) = call.headers().get(PORT) else {
        return Err(ApiError::new(ErrorCode::EndpointNotBuilt, "A tunnel of many streams is not built yet"));
    };
    let port: u16 = value
        .to_str()
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| ApiError::invalid("X-Sandbox-Port", "X-Sandbox-Port must be a port number"))?;
    let mut query = call.permit().query();
    query.port = Some(port);
    call.permit().check(&query)?;
    let settings = &call.app().settings;
    if port == settings.http_port || port == settings.pty_port {
        return Err(ApiError::new(ErrorCode::PortNotAllowed, "The server's own ports cannot be reached")
            .with("endpoint", call.declared().name)
            .rule("default:base"));
    }
    let dialled = tokio::time::timeout(PATIENCE, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await;
    let Ok(Ok(stream)) = dialled else {
        return Err(ApiError::not_found("ConnectionRefusedError", format!("Nothing listens on port {port}")));
    };
    let longest = Duration::from_secs(launch::limit(&call, |limits| limits.max_duration_seconds, LONGEST));
    let most = launch::limit(&call, |limits| limits.max_bytes, u64::MAX);
    let stopping = call.app().stopping.clone();
    Ok(Reply::websocket(MAX_MESSAGE, move |socket| tunnel::serve(socket, stream, most, longest, stopping)))
}
