//! List a directory.
//!
//! # Request
//! Query: `path` (or `path_base64`), required; `recursive` (false); `max_depth` (with `recursive`, how deep; 1 is the
//! directory alone); `limit` (1000).
//!
//! # Response
//! `{"entries": [{"name", "path", "type", "size", "modified"}], "truncated"}`, sorted by path as bytes. `name` is the last
//! part of the path. A link shows what it names and has `"symlink": true`; one that leads nowhere has type `symlink`.
//! Entries that the rules refuse, and links to what they refuse, are left out. A name that is no UTF-8 is also in
//! `name_base64` and `path_base64`. `truncated`: there is more than `limit`.
//!
//! # Limits
//! `limits.max_entries` bounds `limit`. A listing takes at most 30 seconds, then it is `truncated`.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter` (also where `path` is no directory); 403 `path_not_allowed`,
//! `path_denied`, `symlink_denied`; 404 `not_found`.
//!
//! # Policy
//! `paths`, judged as a listing, for the directory and for each entry; `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" "http://localhost:9000/files/list?path=/home/user&recursive=true&max_depth=2"
//! ```

use super::intake::query_path;
use super::names::{self, Name};
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::files::iso_utc;
use crate::files::list::{ListOptions, list};
use serde::Serialize;

const DEFAULT_LIMIT: u64 = 1000;
/// Past this a client has long given up; a larger tree is listed in parts.
const MAX_SECONDS: u64 = 30;

#[derive(Serialize)]
struct Response {
    entries: Vec<Entry>,
    truncated: bool,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    modified: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    symlink: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
}

pub(crate) async fn call(call: Call) -> Answer {
    let scene = Scene::timed(&call, |limits| limits.timeout_seconds, MAX_SECONDS);
    let path = query_path(&call, &scene)?;
    let query = call.query();
    let max_depth = match (query.flag("recursive", false)?, query.count("max_depth")?) {
        (false, _) => 1,
        (true, None) => usize::MAX,
        (true, Some(0)) => {
            return Err(crate::error::ApiError::invalid("max_depth", "max_depth must be at least 1"));
        }
        (true, Some(depth)) => usize::try_from(depth).unwrap_or(usize::MAX),
    };
    let limit = scene.entries(query.count("limit")?, DEFAULT_LIMIT);
    let reply = scene.blocking(move |scene| {
        let found = scene.run("path", |access| list(access, &path, ListOptions { max_depth, limit }))?;
        let entries = found.entries.iter().map(|entry| {
            let path = names::below(&found.path, &entry.relative);
            let (name, path) = (Name::of(names::last(&path)), Name::of(&path));
            let (seconds, nanoseconds) = entry.metadata.modified;
            Entry {
                name: name.text.into_owned(),
                path: path.text.into_owned(),
                kind: names::kind(entry.metadata.kind),
                size: entry.metadata.size,
                modified: iso_utc(seconds, nanoseconds),
                symlink: entry.link,
                name_base64: name.base64,
                path_base64: path.base64,
            }
        });
        Ok(Reply::ok(&Response { entries: entries.collect(), truncated: found.truncated }))
    });
    reply.await
}
