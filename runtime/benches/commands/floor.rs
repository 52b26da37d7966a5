//! The floors: the least that a program of this kind could do, in a process of its own, so that the start of a process
//! counts on both sides.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names what a copy of this program is to do instead of measuring.
const ROLE: &str = "BENCH_ROLE";

/// A call of this program that checks a document as simply as can be.
pub(crate) fn check(document: &Path) -> Command {
    as_role(&format!("check:{}", document.display()))
}

/// A call of this program that serves `/health` and nothing else.
pub(crate) fn serve(port: u16) -> Command {
    as_role(&format!("serve:{port}"))
}

fn as_role(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.env(ROLE, role);
    command
}

/// Plays the role that this copy was started for, if any.
pub(crate) fn play() -> Option<ExitCode> {
    let role = std::env::var(ROLE).ok()?;
    let (role, argument) = role.split_once(':')?;
    let done = match role {
        "check" => judge(&PathBuf::from(argument)).is_some(),
        _ => argument.parse().is_ok_and(|port| answer(port).is_ok()),
    };
    Some(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Deserialize)]
struct Document {
    endpoints: BTreeMap<String, Rule>,
}

#[derive(Deserialize)]
struct Rule {
    paths: Paths,
}

#[derive(Deserialize)]
struct Paths {
    allow: Vec<String>,
    deny: Vec<String>,
}

/// Reads a document into types, looks up its endpoints and tells the shape of every glob.
fn judge(path: &Path) -> Option<usize> {
    let document: Document = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let known =
        document.endpoints.keys().all(|id| policy_lang::endpoint::EndpointId::from_name(id).is_some());
    let globs = document.endpoints.values().flat_map(|rule| rule.paths.allow.iter().chain(&rule.paths.deny));
    let simple = globs.filter(|glob| {
        let glob = glob.strip_suffix("/**").unwrap_or(glob);
        let glob = glob.strip_prefix("**/").unwrap_or(glob);
        !glob.strip_prefix('*').unwrap_or(glob).contains(['*', '?', '[', '{', '\\'])
    });
    Some(simple.count()).filter(|_| known)
}

/// Axum on one thread with one route.
fn answer(port: u16) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let app = axum::Router::new().route("/health", axum::routing::get(|| async { r#"{"status":"ok"}"# }));
        let socket = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        axum::serve(socket, app).await
    })
}
