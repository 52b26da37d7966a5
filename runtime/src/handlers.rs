//! The handlers, one file each: `handlers/<group>/<endpoint_id>.rs`.
//!
//! Adding one: its file, a `mod` line in the group's file, and a row here. An endpoint without a row is answered 503
//! `endpoint_not_built` and is listed in `tests/unbuilt.txt`.

mod core;

use crate::endpoint::Handler;
use policy_lang::endpoint::EndpointId;

/// A row: the handler's module, and `streams_body` where it reads a JSON body as a stream.
macro_rules! handler {
    ($($module:ident)::+) => {
        Handler { run: |call| Box::pin($($module)::+::call(call)), streams_body: false }
    };
    ($($module:ident)::+, streams_body) => {
        Handler { run: |call| Box::pin($($module)::+::call(call)), streams_body: true }
    };
}

/// The handler of an endpoint; `None` while it is not built.
#[must_use]
pub fn of(id: EndpointId) -> Option<Handler> {
    Some(match id {
        EndpointId::Health => handler!(core::health),
        _ => return None,
    })
}
