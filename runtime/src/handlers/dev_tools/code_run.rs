//! Run a snippet.
//!
//! # Request
//! `language` (required: `python`, `node` or `bash`), `code` (required), `timeout` in seconds (30), `cwd` (`base_dir`),
//! `env` (`{}`).
//!
//! # Response
//! `{"stdout", "stderr", "exit_code", "language", "execution_time_ms"}`, and `signal`, `stdout_truncated` and
//! `stderr_truncated` as on `/shell`.
//!
//! # Limits
//! `limits.timeout_seconds` (300), `limits.max_output_bytes` of each stream (16 MiB), `limits.max_concurrency` (8). The code
//! is one argument of the interpreter: about 128 KB.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `language_not_allowed`, `path_not_allowed`, `variable_not_allowed`;
//! 408 `timeout`; 413 `request_too_large`; 500 `spawn_failed` where the interpreter is not installed.
//!
//! # Policy
//! `paths` (of `cwd`), `params.languages`, `params.env_deny`, `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/code/run -H 'Content-Type: application/json' \
//!   -d '{"language": "python", "code": "print(1 + 1)"}'
//! ```

use axum::http::StatusCode;
use serde::Serialize;

use super::super::launch::{self, Judged, Manner, Output};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};

/// How long a snippet may take where nobody says.
const TIMEOUT: u64 = 30;

#[derive(Debug, Serialize)]
struct Response {
    #[serde(flatten)]
    output: Output,
    language: String,
    execution_time_ms: f64,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let language = body.required_text("language")?;
    let code = body.required_text("code")?;
    let mut query = call.permit().query();
    query.language = Some(&language);
    launch::ask(&call, &query)?;
    let arguments = interpreter(&language, code)?;
    let time =
        launch::time(&call, "timeout", body.number("timeout")?, TIMEOUT, |limits| limits.timeout_seconds)?;
    let judged = Judged::of(&call, arguments, &mut body).map_err(|error| match error.code() {
        ErrorCode::CommandNotFound => {
            ApiError::new(ErrorCode::SpawnFailed, format!("The interpreter of {language} is not installed"))
                .kind("FileNotFoundError")
        }
        _ => error,
    })?;
    let judged = Judged { title: format!("code_run {language}"), ..judged };
    let ended = judged.start(&call, Manner::of_a_call(&call, time))?.to_end().await;
    if ended.exit.timed_out() {
        return Err(launch::timed_out(StatusCode::REQUEST_TIMEOUT, time));
    }
    Ok(Reply::ok(&Response {
        language,
        execution_time_ms: (ended.time.as_secs_f64() * 10_000.0).round() / 10.0,
        output: ended.into(),
    }))
}

/// The command line of a snippet. Code that begins with `-` is still code.
fn interpreter(language: &str, code: String) -> Result<Vec<String>, ApiError> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match language {
        "python" => Ok([words(&["python3", "-c"]), vec![code]].concat()),
        "node" => Ok([words(&["node"]), vec![format!("--eval={code}")]].concat()),
        "bash" => Ok([words(&["bash", "-c", "--"]), vec![code]].concat()),
        _ => Err(ApiError::invalid("language", "language must be python, node or bash")),
    }
}
