//! Read a file as base64.
//!
//! # Request
//! Query: `path` (or `path_base64`), required.
//!
//! # Response
//! `{"path", "content_base64"}`. The content is encoded while it is read. A path that is no UTF-8 is also in `path_base64`.
//!
//! # Limits
//! `limits.max_bytes` bounds the file.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`, `not_a_regular_file`; 403 `path_not_allowed`, `path_denied`,
//! `symlink_denied`; 404 `not_found`; 413 `file_too_large`.
//!
//! # Policy
//! `paths`, judged as a read; `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" "http://localhost:9000/download?path=/home/user/file.txt"
//! ```

use super::encoded;
use super::scene::Scene;
use crate::endpoint::{Answer, Call};

pub(crate) async fn call(call: Call) -> Answer {
    encoded::file(Scene::of(&call), call, |_| r#""}"#.to_owned()).await
}
