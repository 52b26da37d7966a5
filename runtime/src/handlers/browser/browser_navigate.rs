//! Go to a URL.
//!
//! # Request
//! `url` (required; `http` or `https`), `timeout` in milliseconds (30000; also where it is zero or less), `wait_until`:
//! `load` (default), `domcontentloaded` or `networkidle`.
//!
//! # Response
//! `{"url", "title", "status"}`: where the page is in the end, its title, and the status of the answer (a 404 is no error).
//! A move within the document that is there has its status; null stands for a document that came over no network.
//!
//! # Limits
//! `limits.timeout_seconds` (120).
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `url_not_allowed`, also where a redirect leads to what the rules
//! refuse; 408 `timeout`; 502 `navigation_failed` where nothing could be loaded or the URL is a download; 503
//! `browser_unavailable`.
//!
//! # Policy
//! `params.url_allow`, `params.url_deny`, `params.block_private_networks`: for the URL and for everything that a page of
//! the caller loads at any time, whichever endpoint made it do so. Each connection is judged by the address that it goes
//! to. The path of an encrypted WebSocket is the one thing that only the page sees: such a socket is judged by host and
//! port. Where rules name paths, shared workers do not run, since not all of their requests can be watched.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/navigate -H 'Content-Type: application/json' \
//!   --json '{"url": "http://example.com/"}'
//! ```

use super::{Time, end, visit};
use crate::browser::Stage;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use policy_lang::matchers::url::Target;
use tokio::time::timeout_at;

/// How long it may take where nobody says, in milliseconds.
const TIMEOUT: u64 = 30_000;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let url = body.required_text("url")?;
    let time = Time::asked(&call, &body, TIMEOUT)?;
    let stage = match body.text("wait_until")?.as_deref() {
        None | Some("load") => Stage::Loaded,
        Some("domcontentloaded") => Stage::Interactive,
        Some("networkidle") => Stage::Idle,
        Some(_) => {
            let message = "wait_until must be load, domcontentloaded or networkidle";
            return Err(ApiError::invalid("wait_until", message));
        }
    };
    let target =
        Target::parse(&url).ok_or_else(|| ApiError::invalid("url", "url must be an absolute URL"))?;
    call.note().fact("url", target.to_string());
    // What the rules refuse by its text alone starts no browser.
    let mut query = call.permit().query();
    query.url = Some(&target);
    super::super::launch::ask(&call, &query)?;
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().navigate(&url, stage)).await;
    Ok(Reply::ok(&end(visit, time, outcome)?))
}
