//! Install or update an agent, streaming progress.
//!
//! # Request
//! `version` (a version or a tag; the newest, where absent), `force` (false: what is there already in this version is kept),
//! `allow_scripts` (false: packages run no code of theirs while they are installed).
//!
//! # Response
//! `text/event-stream`: `started{source, version}`, `log{stream, data}`, `progress{bytes, total?}`, and last
//! `done{version, command, ms, bytes}` or `error{code, error}` (`install_failed`, `checksum_mismatch`, `url_not_allowed`,
//! `timeout`). A caller who goes away does not end it.
//!
//! # Limits
//! `limits.max_duration_seconds` (900); `limits.max_output_bytes` of `log` (1 MB).
//!
//! # Errors
//! Before the stream: 400 `invalid_parameter`; 403 `command_not_allowed`; 404 `agent_not_found`; 409 `install_running`,
//! `runtime_missing` (with `need` and `have`).
//!
//! # Policy
//! `params.allow_commands`, `params.deny_commands` (npm, node, python3), `params.url_allow`, `params.url_deny`,
//! `params.block_private_networks` (of an archive), `params.env_deny`.
//!
//! ```sh
//! curl -N -X POST http://localhost:9000/agents/catalog/opencode/install -H 'Content-Type: application/json' -d '{}'
//! ```

use super::super::launch;
use super::catalogued::{Starting, held};
use crate::agents::catalogue;
use crate::agents::install::{InstallError, Report, Step, Wanted};
use crate::egress;
use crate::endpoint::{Answer, Call, Reply};
use crate::sse;
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let (version, force) = (body.text("version")?, body.flag("force", false)?);
    let allow_scripts = body.flag("allow_scripts", false)?;
    let time = Duration::from_secs(launch::limit(&call, |limits| limits.max_duration_seconds, 900));
    let room = launch::limit(&call, |limits| limits.max_output_bytes, 1_000_000);
    let egress = egress::Judge::of(call.permit());
    let starting = Starting::of(&call)?;
    let entry = starting.entry().await?;
    let id = entry.definition.id.clone();
    let agents = Arc::clone(&starting.agents);
    let lock = held(&agents, &id)?;
    let begun = Instant::now();
    let wanted = Wanted { entry, version, force, allow_scripts, judge: starting.judge, egress, time };
    let ready = match agents.installs.prepare(&agents.engine, wanted).await {
        Err(InstallError::Refused(error)) => return Err(error),
        ready => ready,
    };
    let (report, steps) = Report::new(Arc::clone(&agents.masks), room);
    tokio::spawn(async move {
        // Nobody else touches the folder until this is over.
        let _lock = lock;
        let done = async {
            let install = agents.installs.run(&agents.engine, ready?, &report).await?;
            let store = agents.store().await.map_err(|error| InstallError::Failed(error.to_string()))?;
            let known = catalogue::installed(store, id, Some(&install)).await;
            known.map_err(|error| InstallError::Failed(error.to_string()))?;
            Ok::<_, InstallError>(install)
        };
        report.step(match done.await {
            Ok(install) => Step::Done {
                version: install.version,
                command: install.command,
                ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
                bytes: install.bytes,
            },
            Err(error) => {
                let text = error.to_string();
                Step::Error { code: error.code(), error: agents.masks.mask(&text).into_owned() }
            }
        });
    });
    Ok(Reply::stream(HeaderValue::from_static("text/event-stream"), frames(steps))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")))
}

fn frames(steps: UnboundedReceiver<Step>) -> Body {
    Body::from_stream(stream::unfold(steps, |mut steps| async move {
        let piece = match tokio::time::timeout(HEARTBEAT, steps.recv()).await {
            Err(_) => sse::heartbeat(),
            Ok(None) => return None,
            Ok(Some(step)) => {
                let mut out = Vec::new();
                sse::event(&mut out, step.name(), &step);
                Bytes::from(out)
            }
        };
        Some((Ok::<_, Infallible>(piece), steps))
    }))
}
