//! Write a base64 body to a file.
//!
//! # Request
//! JSON: `path` (or `path_base64`) and `content_base64` (standard, padded), required; `overwrite` (true). Missing parents
//! are made.
//!
//! # Response
//! `{"path", "bytes"}`, once the file is in place and survives a power cut. Until then the old file is untouched.
//!
//! # Limits
//! `limits.max_bytes` bounds the file, `limits.max_request_bytes` the body.
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
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"path": "a.txt", "content_base64": "aGk="}' http://localhost:9000/upload
//! ```

use super::receive::receive;
use super::scene::Scene;
use crate::endpoint::{Answer, Call};

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::of(&call);
    let stream = call.stream();
    receive(scene, stream, call.note().clone()).await
}
