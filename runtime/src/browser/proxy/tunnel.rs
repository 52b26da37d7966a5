//! A tunnel. Its host, port and addresses are judged before it opens. The first byte then tells what it carries: the
//! beginning of TLS is carried as it is, where the rules need no path to allow that; anything else must be requests in the clear (that is how browsers open `ws:`),
//! and each of them is judged by its whole URL like any other.

use super::super::fence::{Fence, Trouble};
use super::serve::{Body, Closed, Way, empty, serve};
use super::{Door, reach};
use axum::http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long the browser may take to say the first byte.
const FIRST_BYTE: Duration = Duration::from_secs(30);

/// A record of the TLS handshake begins with this.
const TLS_HANDSHAKE: u8 = 22;

/// Judges, connects and opens the tunnel.
pub(super) async fn open(
    fence: Arc<Fence>,
    mut request: Request<Incoming>,
    door: Door,
) -> Result<Response<Body>, Closed> {
    // A tunnel is opened to host and port; anything else is no request of a browser.
    let authority = match request.uri().authority() {
        Some(authority) if authority.port().is_some() && !authority.as_str().contains('@') => {
            Arc::<str>::from(authority.as_str())
        }
        _ => return Ok(empty(StatusCode::BAD_REQUEST)),
    };
    let Ok(place) = fence.origin(&authority).await else { return Ok(empty(StatusCode::FORBIDDEN)) };
    let stream = match reach(&fence, &place).await {
        Ok(stream) => stream,
        Err(trouble) => {
            let status = match trouble {
                Trouble::Refused(_) => StatusCode::FORBIDDEN,
                Trouble::Malformed(_) | Trouble::Failed(_) => StatusCode::BAD_GATEWAY,
            };
            fence.note(place.url().as_str(), trouble);
            return Ok(empty(status));
        }
    };
    let browser = hyper::upgrade::on(&mut request);
    tokio::spawn(carry(browser, stream, fence, authority, door));
    Ok(empty(StatusCode::OK))
}

async fn carry(browser: OnUpgrade, mut other: TcpStream, fence: Arc<Fence>, authority: Arc<str>, door: Door) {
    let Ok(browser) = browser.await else { return };
    let mut browser = TokioIo::new(browser);
    let Ok(Ok(first)) = tokio::time::timeout(FIRST_BYTE, browser.read_u8()).await else { return };
    if first == TLS_HANDSHAKE {
        // Judged as what it turned out to be.
        let judged = match door {
            Door::Pages => fence.encrypted(&authority),
            Door::Sockets => fence.encrypted_socket(&authority),
        };
        if judged.is_ok() && other.write_u8(first).await.is_ok() {
            // Either end may hang up at any time.
            let _ = tokio::io::copy_bidirectional(&mut browser, &mut other).await;
        }
        return;
    }
    drop(other);
    let (read, write) = tokio::io::split(browser);
    let whole = tokio::io::join(std::io::Cursor::new([first]).chain(read), write);
    serve(Box::new(whole), fence, Way::Within(authority)).await;
}
