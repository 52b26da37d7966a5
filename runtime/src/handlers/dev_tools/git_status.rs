//! Parsed git status.
//!
//! # Request
//! `path` in the query: a directory in the working tree (`base_dir`).
//!
//! # Response
//! `{"branch", "clean", "files": [{"path", "status"}], "truncated"}`. `status` is modified, added, deleted, renamed,
//! untracked, copied or unmerged; a renamed or copied file has `original_path`. A name that is no UTF-8 is lossy in `path`
//! and exact in `path_base64`.
//!
//! # Limits
//! `limits.timeout_seconds` (30), `limits.max_entries` (10,000). Nothing that the repository names is run.
//!
//! # Errors
//! 400 `invalid_parameter`, of type `GitError` where there is no repository; 403 `path_not_allowed`, also for a repository
//! that keeps its data outside; 408 `timeout`; 500 `spawn_failed` without git.
//!
//! # Policy
//! `paths`, `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/git/status?path=project'
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::launch;
use super::looking::{Search, refused};
use crate::endpoint::{Answer, Call, Reply};
use crate::git::{Entry, parse_status};

/// Longest status that is read, in bytes.
const STATUS: usize = 16 << 20;

pub(crate) async fn call(call: Call) -> Answer {
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_entries, 10_000)).unwrap_or(usize::MAX);
    let search = Search::of(&call)?;
    drop(call);
    let (repository, permit) = search.repository().await?;
    let arguments = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"];
    let output = repository.run(&arguments, STATUS).await.map_err(|error| refused(&permit, &error))?;
    let status = parse_status(&output.bytes);
    let files: Vec<Value> = status.entries.iter().take(most).map(shown).collect();
    Ok(Reply::ok(&json!({
        "branch": status.branch,
        "clean": status.entries.is_empty(),
        "files": files,
        "truncated": output.truncated || status.entries.len() > most,
    })))
}

fn shown(entry: &Entry) -> Value {
    let mut value = json!({"path": String::from_utf8_lossy(&entry.path), "status": entry.status});
    let Some(members) = value.as_object_mut() else { return value };
    if std::str::from_utf8(&entry.path).is_err() {
        members.insert("path_base64".to_owned(), STANDARD.encode(&entry.path).into());
    }
    if let Some(original) = &entry.original {
        members.insert("original_path".to_owned(), String::from_utf8_lossy(original).into());
    }
    value
}
