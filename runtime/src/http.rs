//! The listeners: accept, bound the number of connections, and hand every request to the pipeline.

use crate::app::App;
use crate::pipeline::{self, Peer};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use policy_lang::endpoint::Listener;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Largest header block, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long a head may take, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Accepts until the server stops.
pub async fn listen(app: Arc<App>, socket: TcpListener, listener: Listener) {
    loop {
        let Ok((stream, address)) = socket.accept().await else { continue };
        tokio::spawn(connection(Arc::clone(&app), stream, address, listener));
    }
}

async fn connection(app: Arc<App>, stream: TcpStream, address: SocketAddr, listener: Listener) {
    let peer = Peer { address: address.ip().to_canonical(), listener };
    let _ = stream.set_nodelay(true);
    // One fallback: the pipeline routes by itself, because its order is part of what is promised.
    let router = Router::new()
        .fallback(move |request: Request<Body>| pipeline::serve(Arc::clone(&app), peer, request));
    let _ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades()
        .await;
}
