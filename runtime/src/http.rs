//! The listeners: accept, bound the number of connections, and hand every request to the pipeline.

mod accept;
mod crowd;

pub use accept::listen;
pub use crowd::{Busy, Crowd, Cut, MAX_CONNECTIONS};

use crate::app::App;
use crate::pipeline::{self, Peer};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use crowd::Member;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use policy_lang::endpoint::Listener;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// Largest header block, in bytes; beyond it the answer is 431.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long a head may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves one connection to its end.
async fn connection(app: Arc<App>, stream: TcpStream, address: IpAddr, listener: Listener, member: Member) {
    // Small answers must not wait for an acknowledgement; where it cannot be set they do.
    let _ = stream.set_nodelay(true);
    let member = Arc::new(member);
    let stopping = app.stopping.clone();
    // One fallback and no routes: the pipeline finds the door itself, because its order is part of what is promised.
    let asked = Arc::clone(&member);
    let router = Router::new().fallback(move |request: Request<Body>| {
        pipeline::serve(Arc::clone(&app), Peer { address, listener, busy: asked.busy() }, request)
    });
    let mut served = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
            .with_upgrades()
    );
    tokio::select! {
        biased;
        // Whatever ended it (a client that left, a bad head that hyper has answered), nobody is left to tell.
        _ = served.as_mut() => return,
        () = member.evicted() => return,
        () = stopping.cancelled() => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}
