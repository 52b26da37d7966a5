//! A request in the clear: judged by its whole URL, sent to the address that was judged.

use super::super::fence::{Fence, Trouble};
use super::serve::{Body, Closed};
use super::{headers, reach};
use crate::egress::Place;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::sync::Arc;

/// Passes the request on and the answer back. An answer that changes protocols joins the two connections.
pub(super) async fn forward(
    fence: Arc<Fence>,
    url: String,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Closed> {
    let place = fence.place(&url).await.map_err(|_| Closed)?;
    let stream = reach(&fence, &place).await.map_err(|trouble| noted(&fence, &url, trouble))?;
    let (mut sender, connection) = http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| failed(&fence, &url))?;
    // Ends with the answer, or with the socket that it became.
    tokio::spawn(connection.with_upgrades());
    let socket = headers::wants_socket(&request);
    let browser = socket.then(|| hyper::upgrade::on(&mut request));
    readdress(&mut request, &place, socket).ok_or(Closed)?;
    let mut response = sender.send_request(request).await.map_err(|_| failed(&fence, &url))?;
    if let (Some(browser), StatusCode::SWITCHING_PROTOCOLS) = (browser, response.status()) {
        let other = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(browser), Ok(other)) = (browser.await, other.await) {
                let (mut browser, mut other) = (TokioIo::new(browser), TokioIo::new(other));
                // Either end may hang up at any time.
                let _ = tokio::io::copy_bidirectional(&mut browser, &mut other).await;
            }
        });
    }
    headers::of_response(&mut response);
    Ok(response.map(Either::Left))
}

/// The request as the other end wants it: path alone as the target, the host in its header.
fn readdress(request: &mut Request<Incoming>, place: &Place, socket: bool) -> Option<()> {
    let url = place.url();
    let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let host = url.host_str()?;
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    headers::of_request(request.headers_mut(), socket);
    request.headers_mut().insert(HOST, HeaderValue::from_str(&host).ok()?);
    Some(())
}

fn noted(fence: &Fence, url: &str, trouble: Trouble) -> Closed {
    fence.note(url, trouble);
    Closed
}

fn failed(fence: &Fence, url: &str) -> Closed {
    noted(fence, url, Trouble::Failed("no valid HTTP answer".to_owned()))
}
