//! Panics on request, so that tests can show what a panic costs. Not in release builds; in others only where
//! `ABX_TEST_FAULTS` was set at start.

use crate::endpoint::{Reply, ReplyBody};
use crate::env::Env;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use futures_util::stream;

/// Where the panic is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Before the handler has done anything.
    Before,
    /// When it has done everything, and its answer is lost.
    After,
    /// After the first bytes of its answer.
    Stream,
}

/// What the request asks for in `X-Test-Fault`.
pub(super) fn asked_for(env: &Env, headers: &HeaderMap) -> Option<Fault> {
    match headers.get("x-test-fault").filter(|_| env.test_faults)?.as_bytes() {
        b"before" => Some(Fault::Before),
        b"after" => Some(Fault::After),
        b"stream" => Some(Fault::Stream),
        _ => None,
    }
}

pub(super) fn before(fault: Option<Fault>) {
    if fault == Some(Fault::Before) {
        fail();
    }
}

pub(super) fn after(fault: Option<Fault>, reply: Reply) -> Reply {
    match fault {
        Some(Fault::After) => fail(),
        Some(Fault::Stream) => {
            let pieces = stream::unfold(0, |turn| async move {
                if turn > 0 {
                    fail();
                }
                Some((Ok::<_, std::convert::Infallible>(Bytes::from_static(b"first")), turn + 1))
            });
            Reply { body: ReplyBody::Stream(Body::from_stream(pieces)), ..reply }
        }
        _ => reply,
    }
}

#[expect(clippy::panic, reason = "the fault that was asked for")]
fn fail() -> ! {
    panic!("a fault that was asked for")
}
