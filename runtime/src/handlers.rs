//! The handlers, one file each: `handlers/<group>/<endpoint_id>.rs`.
//!
//! Adding one: its file, a `mod` line in the group's file, and its name off the list below. An endpoint that is neither
//! built nor listed does not compile. A listed one is answered 503 `endpoint_not_built` and stands in
//! `tests/endpoints/not_built.txt`.

mod agents;
mod browser;
mod commands;
mod core;
mod custom;
mod data_plane;
mod dev_tools;
pub(crate) mod file_ops;
mod launch;
mod process;
mod resumable;
mod system;
mod terminal;
mod until;

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

/// The handler of every route that a template registers.
pub(crate) const CUSTOM: Handler = Handler { run: |call| Box::pin(custom::call(call)), streams_body: false };

codegen::handlers!(
    "../endpoints.toml",
    not_built = [],
    // Bodies too large to be held: the handler reads the JSON as a stream.
    streams_body = [upload, files_upload_stream]
);
