//! git diff and its figures.
//!
//! # Request
//! In the query: `path`, a directory in the working tree (`base_dir`); `staged` (false); `file`, one name taken literally
//! from `path`; `context` (3), lines around each change.
//!
//! # Response
//! `{"diff", "stats": {"files_changed", "insertions", "deletions"}}`. A diff longer than the limit is cut and ends in
//! `... (truncated at 1MB)`.
//!
//! # Limits
//! `limits.timeout_seconds` (30), `limits.max_output_bytes` (1 MiB). Nothing that the repository names is run.
//!
//! # Errors
//! As `/git/status`.
//!
//! # Policy
//! `paths`, `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/git/diff?path=project&staged=true'
//! ```

use serde_json::json;

use super::super::launch;
use super::looking::{Search, plain, refused};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use crate::git::parse_numstat;

/// Most lines of context.
const CONTEXT: u64 = 100_000;

/// Longest list of figures that is read, in bytes.
const FIGURES: usize = 16 << 20;

pub(crate) async fn call(call: Call) -> Answer {
    let query = call.query();
    let staged = query.flag("staged", false)?;
    let file = query.text("file")?.filter(|file| !file.is_empty()).map(str::to_owned);
    plain("file", file.as_deref())?;
    let context = query.count("context")?.unwrap_or(3);
    if context > CONTEXT {
        return Err(ApiError::invalid("context", format!("context must be at most {CONTEXT}")));
    }
    let most = launch::limit(&call, |limits| limits.max_output_bytes, 1 << 20);
    let search = Search::of(&call)?;
    drop(call);
    let (repository, permit) = search.repository().await?;
    let context = format!("--unified={context}");
    let common = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"];
    let arguments = |own: &[&str]| {
        let mut words: Vec<String> = common.iter().chain(own).map(|word| (*word).to_owned()).collect();
        words.extend(staged.then(|| "--cached".to_owned()));
        words.push("--".to_owned());
        words.extend(file.clone());
        words
    };
    let run = async |own: &[&str], keep| {
        let words = arguments(own);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        repository.run(&words, keep).await.map_err(|error| refused(&permit, &error))
    };
    let output = run(&["--patch", &context], usize::try_from(most).unwrap_or(usize::MAX)).await?;
    let mut diff = String::from_utf8_lossy(&output.bytes).into_owned();
    if output.truncated {
        diff.push_str("\n... (truncated at 1MB)");
    }
    let figures = run(&["--numstat", "-z"], FIGURES).await?;
    let (files, insertions, deletions) = parse_numstat(&figures.bytes);
    let stats = json!({"files_changed": files, "insertions": insertions, "deletions": deletions});
    Ok(Reply::ok(&json!({"diff": diff, "stats": stats})))
}
