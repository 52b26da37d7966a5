//! A conversation of our own with an MCP server: does it answer, and which tools does it have.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::definition::Way;
use super::{http, stdio};
use crate::agents::process::Judge;
use crate::app::App;
use crate::error::ApiError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The protocol's version that is offered; what the server answers is taken.
pub(super) const VERSION: &str = "2025-06-18";

/// Most pages of tools that are asked for.
const PAGES: usize = 20;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// What the server says of itself.
    pub server_info: Value,
    /// `{name, description}` of each tool.
    pub tools: Vec<Value>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The end of what it wrote to its standard error.
    pub stderr_tail: Option<String>,
}

/// Why nothing was found.
#[derive(Debug)]
pub struct Failed {
    /// What went wrong.
    pub why: Why,
    /// The end of what it wrote to its standard error.
    pub stderr_tail: Option<String>,
}

/// What can go wrong.
#[derive(Debug)]
pub enum Why {
    /// The policy refuses, or the program is not there.
    Refused(ApiError),
    /// It took too long.
    TimedOut,
    /// The server does not answer as it should.
    Broken(String),
}

impl From<Why> for Failed {
    fn from(why: Why) -> Self {
        Self { why, stderr_tail: None }
    }
}

/// What a server is asked over, whatever carries it.
pub(super) trait Line: Send {
    /// Asks and waits for the answer.
    fn ask<'a>(&'a mut self, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Why>>;

    /// Tells.
    fn tell<'a>(&'a mut self, method: &'a str) -> BoxFuture<'a, Result<(), Why>>;
}

/// Shakes hands and lists the tools. `values` holds the variables or headers, those from credentials among them.
///
/// # Errors
/// See [`Failed`].
pub async fn check(
    app: &Arc<App>,
    judge: Judge,
    way: &Way,
    values: BTreeMap<String, String>,
    time: Duration,
) -> Result<Found, Failed> {
    let began = Instant::now();
    let mut found = match way {
        Way::Stdio { command, args, .. } => stdio::check(app, &judge, command, args, values, time).await?,
        Way::Http(remote) => http::streamable(app, &judge, &remote.url, &values, time).await?,
        Way::Sse(remote) => http::events(app, &judge, &remote.url, &values, time).await?,
    };
    found.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(found)
}

/// The conversation itself.
pub(super) async fn talk(line: &mut dyn Line) -> Result<Found, Why> {
    let client = json!({"name": "agent-sandbox-server", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    let answer = line.ask("initialize", hello).await?;
    let server_info = answer.get("serverInfo").cloned().unwrap_or_default();
    line.tell("notifications/initialized").await?;
    let mut found = Found { server_info, ..Found::default() };
    if answer.pointer("/capabilities/tools").is_none() {
        return Ok(found);
    }
    let mut params = json!({});
    for _ in 0..PAGES {
        let page = line.ask("tools/list", params).await?;
        for tool in page.get("tools").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default();
            found.tools.push(json!({"name": text("name"), "description": text("description")}));
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    Ok(found)
}

/// An error that the server answered.
pub(super) fn fault(error: &Value) -> Why {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
    Why::Broken(format!("the server refused: {message}"))
}
