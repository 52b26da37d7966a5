//! Bounded, chunked upload.
//!
//! # Request
//! JSON: `path` (or `path_base64`) and `content_base64` (standard, padded), required; `overwrite` (true). The content is
//! decoded while it arrives; it goes straight to the disk where `path` comes before it. Missing parents are made.
//!
//! The `upload` doors of the data plane take `path` in the query and `multipart/form-data` with one part, `file`.
//!
//! # Response
//! `{"path", "bytes"}`, once the file is in place and survives a power cut. Until then the old file is untouched; an
//! upload that is cut leaves nothing behind.
//!
//! # Limits
//! `limits.max_bytes` bounds the file, `limits.max_request_bytes` the body, `limits.max_duration_seconds` the transfer.
//!
//! # Errors
//! 400 `invalid_json`, `missing_parameter`, `invalid_parameter`, `not_a_regular_file`; 403 `path_not_allowed`,
//! `path_denied`, `read_only`, `symlink_denied`, `extension_not_allowed`; 408 `timeout`; 409 `already_exists`; 413
//! `file_too_large`, `request_too_large`; 507 `no_space`.
//!
//! # Policy
//! `paths`, judged as a write; `params.overwrite`, `params.allow_extensions`, `params.deny_extensions`; `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json @body.json http://localhost:9000/files/upload-stream
//! ```

use super::multipart;
use super::receive::receive;
use super::scene::Scene;
use crate::endpoint::{Answer, Call};
use policy_lang::endpoint::BodyKind;

/// Where the rules say nothing: an hour.
const MAX_SECONDS: u64 = 3600;

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::timed(&call, |limits| limits.max_duration_seconds, MAX_SECONDS);
    if call.door().body == BodyKind::Multipart {
        return multipart::receive(scene, call).await;
    }
    let stream = call.stream();
    receive(scene, stream, call.note().clone()).await
}
