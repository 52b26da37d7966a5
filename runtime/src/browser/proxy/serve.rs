//! One connection of the browser to its proxy, or one tunnel that carries requests in the clear.

use super::super::fence::Fence;
use super::{Door, forward, tunnel};
use axum::http::{Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{Either, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// How long a connection may be idle.
const IDLE: Duration = Duration::from_secs(300);

/// Bytes both ways.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A body that is passed on, or none.
pub(super) type Body = Either<Incoming, Empty<Bytes>>;

/// The connection is closed without an answer: the browser then knows that nothing was loaded, where an answer of ours
/// would pass for the other end's.
#[derive(Debug, thiserror::Error)]
#[error("closed")]
pub(super) struct Closed;

/// How the requests of a connection came here.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Straight in.
    In(Door),
    /// Through a tunnel to this host and port.
    Within(Arc<str>),
}

/// Serves until either side has enough.
pub(super) fn serve(
    io: Box<dyn Io>,
    fence: Arc<Fence>,
    way: Way,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let service = service_fn(move |request| handle(Arc::clone(&fence), request, way.clone()));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(io), service)
            .with_upgrades();
        // Whatever ends it, it has ended.
        let _ = connection.await;
    })
}

async fn handle(fence: Arc<Fence>, request: Request<Incoming>, way: Way) -> Result<Response<Body>, Closed> {
    let uri = request.uri();
    let url = match (way, request.method()) {
        (Way::In(door), &Method::CONNECT) => return tunnel::open(fence, request, door).await,
        // Sockets in the clear come by tunnels too.
        (Way::In(Door::Pages), _) if uri.scheme_str() == Some("http") && uri.authority().is_some() => {
            uri.to_string()
        }
        (Way::Within(authority), method) if *method != Method::CONNECT && uri.authority().is_none() => {
            let path = uri.path_and_query().map_or("/", |path| path.as_str());
            format!("http://{authority}{path}")
        }
        _ => return Ok(empty(StatusCode::BAD_REQUEST)),
    };
    forward::forward(fence, url, request).await
}

/// An answer of the proxy itself.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Right(Empty::new()));
    *response.status_mut() = status;
    response
}
