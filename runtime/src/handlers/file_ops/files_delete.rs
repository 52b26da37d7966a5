//! Delete a file or a tree.
//!
//! # Request
//! Query: `path` (or `path_base64`), required. A link is deleted itself, never what it names.
//!
//! # Response
//! `{"path", "deleted": true}`
//!
//! # Limits
//! `limits.max_entries`: a tree of more is refused before anything is deleted.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `read_only` (also where an entry
//! of the tree is denied or read-only, and for the base directory), `symlink_denied`; 404 `not_found`; 413
//! `request_too_large`; 500 `internal` with `removed`, how many went, where one could not: another call goes on.
//!
//! # Policy
//! `paths`, judged as a deletion, for the path and for each entry below it; `limits`.
//!
//! ```sh
//! curl -X DELETE -H "X-Access-Token: $TOKEN" "http://localhost:9000/files?path=/home/user/old"
//! ```

use super::intake::query_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::files::delete::delete;
use serde::Serialize;

#[derive(Serialize)]
struct Response<'a> {
    path: &'a str,
    deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<&'a str>,
}

pub(crate) async fn call(call: Call) -> Answer {
    let scene = Scene::of(&call);
    let path = query_path(&call, &scene)?;
    let limit = scene.limit(|limits| limits.max_entries).unwrap_or(u64::MAX);
    let reply = scene.blocking(move |scene| {
        scene.run("path", |access| delete(access, &path, limit))?;
        let path = Name::of(path.as_bytes());
        Ok(Reply::ok(&Response { path: &path.text, deleted: true, path_base64: path.base64.as_deref() }))
    });
    reply.await
}
