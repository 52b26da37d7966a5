//! Find literal text in files.
//!
//! # Request
//! JSON: `pattern`, required: text of one line, taken literally; `path` (or `path_base64`; the base directory); `glob`:
//! which files, by name at any depth, or where it holds a `/` by the path below `path`; `limit` (1000).
//!
//! # Response
//! `{"matches": [{"path", "line", "text"}], "timed_out", "truncated"}`, sorted by path as bytes, then by line. `text` is
//! the line without its end, cut at 4 KiB, what is no UTF-8 replaced. Binary files and links are skipped, and so is what
//! the rules refuse.
//!
//! # Limits
//! `limits.max_entries` bounds `limit`, `limits.max_bytes` the text answered, `limits.timeout_seconds` the search.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `symlink_denied`; 404 `not_found`.
//!
//! # Policy
//! `paths`, judged as a read, for the directory and for each entry; `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"pattern": "TODO", "glob": "*.rs"}' http://localhost:9000/files/grep
//! ```

use super::intake::{body_count, body_path};
use super::names::{self, Name};
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use crate::files::grep::{GrepOptions, grep};
use crate::files::pattern::Pattern;
use serde::Serialize;

const DEFAULT_LIMIT: u64 = 1000;
/// Where the rules say nothing, in seconds.
const TIMEOUT: u64 = 10;
/// Where the rules say nothing: 4 MiB.
const MAX_BYTES: u64 = 4 << 20;

#[derive(Serialize)]
struct Response {
    matches: Vec<Match>,
    timed_out: bool,
    truncated: bool,
}

#[derive(Serialize)]
struct Match {
    path: String,
    line: u64,
    text: String,
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
    let needle = body.required_text("pattern")?.into_bytes();
    let glob = body.text("glob")?;
    let limit = scene.entries(body_count(&body, "limit")?, DEFAULT_LIMIT);
    let max_bytes = scene.limit(|limits| limits.max_bytes).unwrap_or(MAX_BYTES);
    let reply = scene.blocking(move |scene| {
        let files = glob.as_deref().map(Pattern::search).transpose();
        let files = files.map_err(|error| ApiError::invalid("glob", format!("glob: {error}")))?;
        let options = GrepOptions { needle, files, limit, max_bytes };
        let found = scene.run("path", |access| grep(access, &path, &options))?;
        let matches = found.matches.iter().map(|hit| {
            let path = names::below(&found.path, &hit.relative);
            let path = Name::of(&path);
            Match {
                path: path.text.into_owned(),
                line: hit.line,
                text: String::from_utf8_lossy(&hit.text).into_owned(),
                path_base64: path.base64,
            }
        });
        let (timed_out, truncated) = (found.end.timed_out, found.truncated);
        Ok(Reply::ok(&Response { matches: matches.collect(), timed_out, truncated }))
    });
    reply.await
}
