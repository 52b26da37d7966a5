//! Watches requests one by one, where rules name paths: the proxy does not see the path of an encrypted request.

use super::super::cdp::{Connection, Listener, Session};
use super::super::fence::Fence;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// Watches a worker that no page owns.
#[derive(Debug)]
pub(in crate::browser) struct Watch {
    fence: Arc<Fence>,
}

/// `Fetch.requestPaused`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Paused {
    request_id: String,
    request: Request,
}

#[derive(Debug, Deserialize)]
struct Request {
    url: String,
}

impl Watch {
    /// Lets a worker that no page owns go on, its requests watched where the rules want it.
    pub(in crate::browser) fn release(connection: &Arc<Connection>, session: &str, fence: &Arc<Fence>) {
        if fence.watches_paths() {
            connection.listen(session.into(), Arc::new(Self { fence: Arc::clone(fence) }));
        }
        release(connection, session, fence);
    }
}

/// Lets what waits in a session go on, its requests watched where the rules want it.
pub(super) fn release(connection: &Arc<Connection>, session: &str, fence: &Fence) {
    if fence.watches_paths() {
        release_watched(connection, session.into());
    } else {
        go_on(connection, session);
    }
}

/// Lets what waits in a session go on.
pub(super) fn go_on(connection: &Connection, session: &str) {
    connection.tell(Some(session), GO_ON, &json!({}));
}

/// The same, its requests watched in any case.
pub(in crate::browser) fn release_watched(connection: &Arc<Connection>, session: Session) {
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        // Only once this is answered does every request stop: what went on before might slip through.
        let watched = connection.call::<Value>(Some(&session), "Fetch.enable", &json!({})).await;
        if watched.is_ok() {
            go_on(&connection, &session);
        }
    });
}

/// Lets go on what was stopped before its first step.
const GO_ON: &str = "Runtime.runIfWaitingForDebugger";

impl Listener for Watch {
    fn event(
        self: Arc<Self>,
        connection: &Arc<Connection>,
        session: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        if let (Some(session), "Fetch.requestPaused") = (session, method)
            && let Ok(paused) = serde_json::from_str(params.get())
        {
            judge(connection, session, &self.fence, &paused);
        }
    }
}

/// Fails a request, whatever it is.
pub(in crate::browser) fn fail(connection: &Connection, session: Option<&str>, params: &RawValue) {
    if let Ok(paused) = serde_json::from_str::<Paused>(params.get()) {
        let params = json!({ "requestId": paused.request_id, "errorReason": "Aborted" });
        connection.tell(session, "Fetch.failRequest", &params);
    }
}

/// Lets a request go on, or fails it.
pub(super) fn judge(connection: &Connection, session: &str, fence: &Fence, paused: &Paused) {
    let (id, url) = (&paused.request_id, &paused.request.url);
    // What is in the page already needs no network.
    let local = ["data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
    if local || fence.url(url).is_ok() {
        connection.tell(Some(session), "Fetch.continueRequest", &json!({ "requestId": id }));
    } else {
        let params = json!({ "requestId": id, "errorReason": "BlockedByClient" });
        connection.tell(Some(session), "Fetch.failRequest", &params);
    }
}
