//! What a handler is given and what it may give back.
//!
//! A handler is one function in its own file, `handlers/<group>/<endpoint_id>.rs`:
//!
//! ```text
//! pub(crate) async fn call(mut call: Call) -> Answer {
//!     let path = call.query().required("path")?;
//!     …
//!     Ok(Reply::ok(&Response { … }))
//! }
//! ```
//!
//! It runs as step 7 of the pipeline. A [`Call`] holds a [`Permit`], which only the step that admits a call can make, so
//! that no handler runs for a call that the policy did not let in. What depends on the call's own values (paths,
//! commands, URLs, parameters) the handler still asks of the policy, through [`Permit::check`] and the guard.

mod body;
mod note;
mod query;
mod reply;
mod stream;

pub use body::JsonBody;
pub use note::Note;
pub use query::Query;
pub(crate) use query::decode as percent_decode;
pub use reply::{Parting, Reply, ReplyBody, WebSocketReply};
pub use stream::BodyStream;
pub(crate) use stream::too_large;

use crate::app::App;
use crate::auth::Principal;
use crate::error::ApiError;
use crate::pipeline::admit::Permit;
use crate::pipeline::route::Match;
use axum::http::HeaderMap;
use policy_lang::endpoint::{Door, EndpointDecl};
use policy_lang::policy::EndpointPolicy;
use std::borrow::Cow;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

/// What a handler answers.
pub type Answer = Result<Reply, ApiError>;

/// The future of an answer.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// One row of the handler table.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    /// Runs it.
    pub run: fn(Call) -> AnswerFuture,
    /// Whether it reads its JSON body itself, as a bounded stream: for uploads too large to be held.
    pub streams_body: bool,
}

/// What was read of the request's body, by the kind of the door.
#[derive(Debug)]
pub enum Intake {
    /// The door takes none.
    None,
    /// One JSON object; `{}` where the request had no body.
    Json(JsonBody),
    /// Bytes, bounded and timed: raw and multipart doors, and JSON doors whose handler streams.
    Stream(BodyStream),
}

/// One admitted call.
#[derive(Debug)]
pub struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) permit: Permit,
    pub(crate) matched: Match,
    pub(crate) request_id: RequestId,
    pub(crate) peer: IpAddr,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) intake: Intake,
    pub(crate) note: Note,
}

impl Call {
    /// The running server: services and settings.
    #[must_use]
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The proof that the policy let this call in.
    #[must_use]
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// What the policy says of the endpoint: limits, path rules, parameters.
    ///
    /// # Errors
    /// 500 `internal`; an admitted call always has rules.
    pub fn rules(&self) -> Result<&EndpointPolicy, ApiError> {
        self.permit.rules().ok_or_else(|| ApiError::internal("The endpoint is unknown to the policy"))
    }

    /// Who calls.
    #[must_use]
    pub fn principal(&self) -> &Arc<Principal> {
        self.permit.principal()
    }

    /// The declaration of the endpoint.
    #[must_use]
    pub fn declared(&self) -> &'static EndpointDecl {
        self.matched.declared()
    }

    /// The door it came through.
    #[must_use]
    pub fn door(&self) -> &'static Door {
        self.matched.door()
    }

    /// The path of the request, as sent.
    #[must_use]
    pub fn path(&self) -> &str {
        self.matched.path()
    }

    /// The names of the path parameters.
    #[must_use]
    pub fn params(&self) -> &'static [&'static str] {
        self.matched.params()
    }

    /// The id of this request, as in `X-Request-Id` and the audit log.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// The other end's address.
    #[must_use]
    pub fn peer(&self) -> IpAddr {
        self.peer
    }

    /// The request's headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The query parameters, each at most once.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// A path parameter of the door's template, percent-decoded once.
    ///
    /// # Errors
    /// 400 `missing_parameter` where the template has none of this name, 400 `invalid_parameter` where it is no UTF-8.
    pub fn param(&self, name: &str) -> Result<Cow<'_, str>, ApiError> {
        self.matched.param(name).ok_or_else(|| ApiError::missing(name))?
    }

    /// The JSON body of a JSON door; an empty object on every other door.
    pub fn json(&mut self) -> JsonBody {
        match std::mem::replace(&mut self.intake, Intake::None) {
            Intake::Json(body) => body,
            Intake::None | Intake::Stream(_) => JsonBody::default(),
        }
    }

    /// The body of a streamed door; an empty one on every other door.
    pub fn stream(&mut self) -> BodyStream {
        match std::mem::replace(&mut self.intake, Intake::None) {
            Intake::Stream(body) => body,
            Intake::None | Intake::Json(_) => BodyStream::empty(),
        }
    }

    /// Where a handler writes what the pipeline could not see (a path inside a streamed body), for the audit line.
    #[must_use]
    pub fn note(&self) -> &Note {
        &self.note
    }
}

/// The server's own name of a request; never taken from the client. Prints as 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// Random, drawn at start.
    pub(crate) boot: u64,
    /// Counts requests.
    pub(crate) number: u64,
}

impl RequestId {
    /// Its 32 digits.
    pub(crate) fn digits(self) -> [u8; 32] {
        let number = u128::from(self.boot) << 64 | u128::from(self.number);
        let mut digits = [0; 32];
        for (place, digit) in digits.iter_mut().rev().enumerate() {
            // Four bits always name a digit.
            let nibble = (number >> (4 * place)) as usize & 0xf;
            *digit = b"0123456789abcdef".get(nibble).copied().unwrap_or(b'0');
        }
        digits
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}
