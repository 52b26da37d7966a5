//! Installed pip or npm packages.
//!
//! # Request
//! `manager` in the query: `pip` (default) or `npm`.
//!
//! # Response
//! `{"manager", "packages": [{"name", "version"}], "truncated"}`, by name; empty where the manager is not installed. npm
//! lists what is installed globally.
//!
//! # Limits
//! `limits.timeout_seconds` (30), `limits.max_entries`, `limits.max_concurrency` (2).
//!
//! # Errors
//! 400 `invalid_parameter`; 500 `timeout`, `internal`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/packages?manager=pip'
//! ```

use std::time::Duration;

use axum::http::StatusCode;
use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};

use super::super::launch;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::process::{Tool, ToolError};

/// Longest list that is read from a manager, in bytes.
const LIST: usize = 16 << 20;

pub(crate) async fn call(call: Call) -> Answer {
    let manager = call.query().text("manager")?.filter(|text| !text.is_empty()).unwrap_or("pip");
    let (name, arguments): (_, &[&str]) = match manager {
        "pip" => ("pip", &["list", "--format=json", "--disable-pip-version-check", "--no-input"]),
        "npm" => ("npm", &["list", "--global", "--json", "--depth=0"]),
        _ => return Err(ApiError::invalid("manager", "manager must be pip or npm")),
    };
    let time = Duration::from_secs(launch::limit(&call, |limits| limits.timeout_seconds, 30));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let ran = call.app().processes.run(Tool {
        name,
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        variables: &[],
        directory: rustix::fs::open("/", flags, Mode::empty())
            .map_err(|_| ApiError::internal("The root directory cannot be opened"))?,
        time,
        keep: LIST,
        owner: launch::owner(&call),
    });
    let mut packages = match ran.await {
        Err(ToolError::Absent(_)) => Vec::new(),
        Err(_) => return Err(ApiError::new(ErrorCode::SpawnFailed, "The package manager did not start")),
        Ok(ran) if ran.exit.timed_out() => {
            return Err(launch::timed_out(StatusCode::INTERNAL_SERVER_ERROR, time));
        }
        // npm fails when anything about its tree is not to its liking, and lists it all the same.
        Ok(ran) => read(manager, &ran.stdout.bytes)
            .ok_or_else(|| ApiError::internal(format!("{manager} printed no list of packages")))?,
    };
    packages.sort();
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_entries, u64::MAX)).unwrap_or(usize::MAX);
    let truncated = packages.len() > most;
    let shown: Vec<Value> =
        packages.iter().take(most).map(|(name, version)| json!({"name": name, "version": version})).collect();
    Ok(Reply::ok(&json!({"manager": manager, "packages": shown, "truncated": truncated})))
}

/// The packages that a manager printed.
fn read(manager: &str, text: &[u8]) -> Option<Vec<(String, String)>> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    if manager == "pip" {
        let list = value.as_array()?;
        return Some(
            list.iter().map(|entry| (word(entry.get("name")), word(entry.get("version")))).collect(),
        );
    }
    match value.get("dependencies") {
        None => value.as_object().map(|_| Vec::new()),
        Some(list) => Some(
            list.as_object()?
                .iter()
                .map(|(name, entry)| (name.clone(), word(entry.get("version"))))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn reads_what_both_managers_print() {
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let pip = br#"[{"name": "requests", "version": "2.32.0"}]"#;
        assert_eq!(read("pip", pip), Some(vec![pair("requests", "2.32.0")]));
        let npm = br#"{"name": "lib", "dependencies": {"npm": {"version": "10.0.0"}, "x": {}}}"#;
        assert_eq!(read("npm", npm), Some(vec![pair("npm", "10.0.0"), pair("x", "")]));
        assert_eq!(read("npm", b"{}"), Some(vec![]));
        assert_eq!((read("pip", b"{}"), read("npm", b"x")), (None, None));
    }
}
