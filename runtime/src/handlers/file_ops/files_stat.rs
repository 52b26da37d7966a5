//! Metadata of one path; 200 with exists=false where there is none.
//!
//! # Request
//! Query: `path` (or `path_base64`), required. A link is looked at itself; a path that ends in `/` asks for a directory.
//!
//! # Response
//! `{"name", "path", "type", "size", "permissions", "modified", "exists"}`. `type` is `file`, `directory`, `symlink`,
//! `other` or, where nothing is there, `unknown`; `permissions` the last three octal digits; `modified` ISO 8601 in UTC.
//! A name that is no UTF-8 is also in `name_base64` and `path_base64`.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `symlink_denied`.
//!
//! # Policy
//! `paths`, judged as a read.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" "http://localhost:9000/files/stat?path=/home/user/x"
//! ```

use super::intake::query_path;
use super::names::{self, Name};
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::files::{iso_utc, stat};
use serde::Serialize;

#[derive(Serialize)]
struct Response<'a> {
    name: &'a str,
    path: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    permissions: String,
    modified: String,
    exists: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<&'a str>,
}

pub(crate) async fn call(call: Call) -> Answer {
    let scene = Scene::of(&call);
    let asked = query_path(&call, &scene)?;
    // No thread is changed for this: the handle it opens reads nothing and so never waits for a disk's content.
    let found = scene.run("path", |access| stat::stat(access, &asked))?;
    let path = Name::of(asked.as_bytes());
    let name = Name::of(names::last(asked.as_bytes()));
    let nothing = || ("unknown", 0, String::new(), String::new());
    let (kind, size, permissions, modified) = found.map_or_else(nothing, |found| {
        let (seconds, nanoseconds) = found.modified;
        (
            names::kind(found.kind),
            found.size,
            format!("{:03o}", found.permissions),
            iso_utc(seconds, nanoseconds),
        )
    });
    Ok(Reply::ok(&Response {
        name: &name.text,
        path: &path.text,
        kind,
        size,
        permissions,
        modified,
        exists: found.is_some(),
        name_base64: name.base64.as_deref(),
        path_base64: path.base64.as_deref(),
    }))
}
