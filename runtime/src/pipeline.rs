//! The one way from a request to an answer. Every route of every listener takes these steps in this order, and the
//! order stands in [`steps`] and nowhere else.
//!
//! 1. [`normalize`] the target
//! 2. [`route`]: find the door; then [`origin`]: judge Host and Origin
//! 3. [`authenticate`]: who calls
//! 4. [`admit`]: enabled, scopes, rate, concurrency
//! 5. [`framing`]: the query and the framing of the message
//! 6. [`body`]: read it
//! 7. [`dispatch`]: the handler
//! 8. [`audit`]: what was decided; wraps all the others

pub mod admit;
mod audit;
mod authenticate;
mod body;
mod dispatch;
#[cfg(debug_assertions)]
mod fault;
mod framing;
pub mod normalize;
mod origin;
pub mod route;

use crate::app::App;
use crate::endpoint::{Call, Reply};
use crate::engine::Slot;
use crate::error::ApiError;
use crate::http::Busy;
use audit::Record;
use axum::body::Body;
use axum::http::{Request, Response};
use futures_util::FutureExt;
use policy_lang::endpoint::{Group, Listener};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Where a request came from.
#[derive(Debug)]
pub struct Peer {
    /// The other end's address.
    pub address: IpAddr,
    /// Which of our listeners it connected to.
    pub listener: Listener,
    /// Keeps the connection while the request is under way.
    pub busy: Busy,
}

/// Answers a request. A panic of any step costs this request and nothing else.
pub async fn serve(app: Arc<App>, peer: Peer, request: Request<Body>) -> Response<Body> {
    let (address, listener) = (peer.address, peer.listener);
    let mut record = Record::begin(app, peer, &request);
    let outcome = AssertUnwindSafe(steps(address, listener, request, &mut record)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("The handler failed")));
    audit::answer(record, outcome)
}

/// What step 7 yields: an answer, the slot that it keeps taken, and for an upgrade the connection.
struct Served {
    reply: Reply,
    slot: Slot,
    upgrade: Option<dispatch::Upgrade>,
}

async fn steps(
    peer: IpAddr,
    listener: Listener,
    request: Request<Body>,
    record: &mut Record,
) -> Result<Served, ApiError> {
    let app = Arc::clone(record.app());
    let (mut parts, incoming) = request.into_parts();
    normalize::head(&parts)?;
    let method = route::method(&parts.method)?;

    // 1. normalise the target
    let target = normalize::target(&parts.uri)?;
    // 2. find the door
    let matched = route::find(&app.commands.routes, listener, method, target)?;
    record.found(&matched);
    route::sandbox(&app.settings, &matched)?;
    origin::judge(&app.settings, &parts)?;
    // 3. who calls
    let state = app.policy();
    let principal = authenticate::principal(&app, &state, matched.declared(), &parts.headers, peer)?;
    record.called_by(&principal);
    // 4. enabled, scopes, rate, concurrency
    let (permit, slot) = admit::admit(state, principal, &matched)?;
    record.admitted(&permit);
    // 5. query and framing
    let query = framing::judge(&matched, &parts)?;
    // 6. body
    let handler = dispatch::handler(&matched)?;
    let (streams, note) = dispatch::streams(handler, &matched);
    let intake = body::read(&permit, &matched, streams, &parts.headers, incoming, &note, record).await?;
    let upgrade = dispatch::upgrade(&matched, &mut parts).await?;
    // Nothing may touch the machine before the directories of the policy are held: what takes the place of one later counts for
    // nothing.
    if matched.declared().group != Group::Core {
        app.until_prepared().await?;
    }
    // 8, first half: what is about to change is written before it changes
    record.intend(&query, &intake, &note)?;
    // 7. the handler
    let request_id = record.id();
    #[cfg(debug_assertions)]
    let fault = fault::asked_for(&app.env, &parts.headers);
    let headers = parts.headers;
    let call = Call { app, permit, matched, request_id, peer, query, headers, intake, note };
    #[cfg(debug_assertions)]
    fault::before(fault);
    let reply = (handler.run)(call).await?;
    #[cfg(debug_assertions)]
    let reply = fault::after(fault, reply);
    Ok(Served { reply, slot, upgrade })
}
