//! Find files by name or glob.
//!
//! # Request
//! JSON: `path` (or `path_base64`; the base directory); `pattern`, required: `fnmatch` on the name, or where it holds a
//! `/` a glob on the path below `path`, in which `**` crosses directories; `type` (`any`, `file`, `directory`); `limit`
//! (1000).
//!
//! # Response
//! `{"results": [{"name", "path"}], "timed_out", "truncated"}`, sorted by path as bytes. Entries that the rules refuse,
//! and links to what they refuse, are left out; a link is matched but not entered. A name that is no UTF-8 is also in
//! `name_base64` and `path_base64`.
//!
//! The `glob` doors of the data plane take `pattern` (always a glob on the path), `path` and `limit`, and answer
//! `{"matches": [{"path", "is_dir", "size_bytes", "modified_at"}], "truncated"}`.
//!
//! # Limits
//! `limits.max_entries` bounds `limit`, `limits.timeout_seconds` the search: what was found by then is answered.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `symlink_denied`; 404 `not_found`.
//!
//! # Policy
//! `paths`, judged as a listing, for the directory and for each entry; `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"pattern": "*.py"}' http://localhost:9000/files/search
//! ```

use super::intake::{body_count, body_path};
use super::names::{self, Name};
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use crate::files::iso_utc;
use crate::files::pattern::Pattern;
use crate::files::search::{Hits, SearchOptions, Wanted, search};
use crate::guard::Kind;
use policy_lang::endpoint::ErrorStyle;
use serde::Serialize;

const DEFAULT_LIMIT: u64 = 1000;
/// Where the rules say nothing, in seconds.
const TIMEOUT: u64 = 10;

#[derive(Serialize)]
struct Response {
    results: Vec<Found>,
    timed_out: bool,
    truncated: bool,
}

#[derive(Serialize)]
struct GlobResponse {
    matches: Vec<GlobMatch>,
    truncated: bool,
}

#[derive(Serialize)]
struct GlobMatch {
    path: String,
    is_dir: bool,
    size_bytes: u64,
    modified_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
}

#[derive(Serialize)]
struct Found {
    name: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::timed(&call, |limits| limits.timeout_seconds, TIMEOUT);
    let mut body = call.json();
    let path = match body_path(&mut body, &scene, "path")? {
        Some(path) => path,
        None => scene.path("path", b".")?,
    };
    let pattern = body.required_text("pattern")?;
    let wanted = match body.text("type")?.as_deref() {
        None | Some("any") => Wanted::Any,
        Some("file") => Wanted::File,
        Some("directory") => Wanted::Directory,
        Some(_) => return Err(ApiError::invalid("type", "type must be any, file or directory")),
    };
    let limit = scene.entries(body_count(&body, "limit")?, DEFAULT_LIMIT);
    // The doors of the data plane are the ones that show errors its way.
    let glob = call.door().errors == ErrorStyle::Detail;
    let reply = scene.blocking(move |scene| {
        let found = scene.run("path", |access| {
            let pattern = if glob { Pattern::path(&pattern) } else { Pattern::search(&pattern) };
            search(access, &path, &SearchOptions { pattern: pattern?, wanted, limit, metadata: glob })
        })?;
        if glob {
            return Ok(Reply::ok(&glob_response(&found)));
        }
        let results = found.results.iter().map(|hit| {
            let path = names::below(&found.path, &hit.relative);
            let (name, path) = (Name::of(names::last(&path)), Name::of(&path));
            Found {
                name: name.text.into_owned(),
                path: path.text.into_owned(),
                name_base64: name.base64,
                path_base64: path.base64,
            }
        });
        let (timed_out, truncated) = (found.end.timed_out, found.truncated);
        Ok(Reply::ok(&Response { results: results.collect(), timed_out, truncated }))
    });
    reply.await
}

fn glob_response(found: &Hits) -> GlobResponse {
    let matches = found.results.iter().map(|hit| {
        let path = names::below(&found.path, &hit.relative);
        let path = Name::of(&path);
        let (seconds, nanoseconds) = hit.metadata.map_or((0, 0), |metadata| metadata.modified);
        GlobMatch {
            path: path.text.into_owned(),
            is_dir: hit.kind == Kind::Directory,
            size_bytes: hit.metadata.map_or(0, |metadata| metadata.size),
            modified_at: iso_utc(seconds, nanoseconds),
            path_base64: path.base64,
        }
    });
    GlobResponse { matches: matches.collect(), truncated: found.truncated }
}
