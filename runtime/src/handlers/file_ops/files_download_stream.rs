//! Bounded, chunked download.
//!
//! # Request
//! Query: `path` (or `path_base64`), required.
//!
//! # Response
//! `{"path", "content_base64", "bytes"}`. The content is encoded while it is read, so that memory stays small however
//! large the file is. The length is that of the file when it was opened; a file that shrinks meanwhile cuts the
//! connection. A path that is no UTF-8 is also in `path_base64`.
//!
//! The `download` doors of the data plane answer the bytes themselves, for GET and HEAD, with a strong `ETag`; they
//! take `Range` (one range), `If-Range` and `If-None-Match`: 206, 304, or 416 `range_not_satisfiable`.
//!
//! # Limits
//! `limits.max_bytes` bounds the file, `limits.max_duration_seconds` the transfer.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`, `not_a_regular_file`; 403 `path_not_allowed`, `path_denied`,
//! `symlink_denied`; 404 `not_found`; 413 `file_too_large`.
//!
//! # Policy
//! `paths`, judged as a read; `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" "http://localhost:9000/files/download-stream?path=/home/user/big.bin"
//! ```

use super::scene::Scene;
use super::{encoded, raw};
use crate::endpoint::{Answer, Call};
use policy_lang::endpoint::ErrorStyle;

/// Where the rules say nothing: an hour.
const MAX_SECONDS: u64 = 3600;

pub(crate) async fn call(call: Call) -> Answer {
    let scene = Scene::timed(&call, |limits| limits.max_duration_seconds, MAX_SECONDS);
    if call.door().errors == ErrorStyle::Detail {
        return raw::send(scene, call).await;
    }
    encoded::file(scene, call, |size| format!(r#"","bytes":{size}}}"#)).await
}
