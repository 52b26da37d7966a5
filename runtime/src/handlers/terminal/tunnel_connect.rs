//! Byte tunnel to a loopback TCP port, over WebSocket.
//!
//! # Request
//! An upgrade with the port in the header `X-Sandbox-Port`. Then binary frames: the bytes for the port. Without the header
//! the binary frames form one byte stream that speaks yamux (version 0); each stream begins with the byte 1 and the port,
//! two bytes with the high one first.
//!
//! # Response
//! Binary frames: the bytes from the port. A yamux stream is answered one byte first: 0 open, 1 port not allowed, 2 nothing
//! listens, 3 unknown version; 128 streams may be open at once. The socket is closed with 1000 when either side has ended,
//! 1008 at a limit.
//!
//! # Limits
//! `limits.max_bytes` both ways together, `limits.max_duration_seconds` (86400), `limits.max_concurrency` (16). Without
//! `params.allow_ports`, ports from 1024 up; the server's own never.
//!
//! # Errors
//! Before the upgrade: 400 `missing_parameter`, `invalid_parameter`; 403 `port_not_allowed`; 404 `not_found` where nothing
//! listens.
//!
//! # Policy
//! `params.allow_ports`, `params.deny_ports`, `limits`.
//!
//! ```sh
//! websocat --binary -H 'X-Sandbox-Port: 8080' ws://localhost:9000/tunnel
//! ```

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpStream;

use super::super::launch;
use super::super::until::until;
use crate::app::App;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::pipeline::admit::Permit;
use crate::tunnel::{self, DIAL, MAX_MESSAGE, Terms};

/// The header that names the port.
const PORT: &str = "x-sandbox-port";

pub(crate) async fn call(call: Call) -> Answer {
    let terms = Terms {
        most: launch::limit(&call, |limits| limits.max_bytes, u64::MAX),
        until: until(&call),
        note: call.note().clone(),
    };
    let ports = Ports { permit: call.permit().clone(), app: Arc::clone(call.app()) };
    let Some(value) = call.headers().get(PORT) else {
        let allows = move |port| ports.judge(port).is_ok();
        return Ok(Reply::websocket(MAX_MESSAGE, move |socket| tunnel::streams(socket, allows, terms)));
    };
    let port: u16 = value
        .to_str()
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| ApiError::invalid("X-Sandbox-Port", "X-Sandbox-Port must be a port number"))?;
    ports.judge(port)?;
    let dialled = tokio::time::timeout(DIAL, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await;
    let Ok(Ok(stream)) = dialled else {
        return Err(ApiError::not_found("ConnectionRefusedError", format!("Nothing listens on port {port}")));
    };
    Ok(Reply::websocket(MAX_MESSAGE, move |socket| tunnel::raw(socket, stream, terms)))
}

/// Which ports the caller may reach.
struct Ports {
    permit: Permit,
    app: Arc<App>,
}

impl Ports {
    /// Asks the policy; the server's own ports are nobody's.
    fn judge(&self, port: u16) -> Result<(), ApiError> {
        let mut query = self.permit.query();
        query.port = Some(port);
        self.permit.check(&query)?;
        if !self.app.owns_port(port) {
            return Ok(());
        }
        let endpoint = self.permit.state().policy.name(self.permit.endpoint()).unwrap_or_default();
        Err(ApiError::new(ErrorCode::PortNotAllowed, "The server's own ports cannot be reached")
            .with("endpoint", endpoint)
            .rule("default:base"))
    }
}
