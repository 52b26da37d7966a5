//! Where new pages and workers arrive: pages that were asked for are handed over, windows that a page opened are closed
//! unseen, workers are let go on once their requests are watched.

use super::cdp::{Connection, Listener, Session};
use super::console::Console;
use super::fence::Fence;
use super::page::{Watch, watch};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// What one identity brings into a browser.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) console: Arc<Console>,
    pub(super) fence: Arc<Fence>,
    /// Who waits for a page, while one is being made.
    expecting: Mutex<Option<oneshot::Sender<Arrival>>>,
}

/// A page that was asked for.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) session: Session,
    pub(super) target: String,
}

/// All residents of a browser, by context.
#[derive(Debug, Default)]
pub(super) struct Lobby(Mutex<HashMap<String, Arc<Resident>>>);

impl Resident {
    pub(super) fn new(console: Arc<Console>, fence: Arc<Fence>) -> Self {
        Self { console, fence, expecting: Mutex::default() }
    }

    /// The next page that arrives is the one that was asked for.
    pub(super) fn expect(&self) -> oneshot::Receiver<Arrival> {
        let (sender, receiver) = oneshot::channel();
        *self.expecting.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    fn expected(&self) -> Option<oneshot::Sender<Arrival>> {
        self.expecting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Lobby {
    /// A context belongs to this resident.
    pub(super) fn settle(&self, context: &str, resident: Arc<Resident>) {
        self.residents().insert(context.to_owned(), resident);
    }

    fn residents(&self) -> MutexGuard<'_, HashMap<String, Arc<Resident>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `Target.attachedToTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attached {
    pub(super) session_id: String,
    pub(super) target_info: TargetInfo,
}

/// What arrived.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetInfo {
    target_id: String,
    pub(super) r#type: String,
    browser_context_id: Option<String>,
    opener_id: Option<String>,
}

/// `Target.detachedFromTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Detached {
    pub(super) session_id: String,
}

impl Lobby {
    fn arrived(&self, connection: &Arc<Connection>, arrived: Attached) {
        let Attached { session_id: session, target_info: target } = arrived;
        let resident = target.browser_context_id.as_ref().and_then(|id| self.residents().get(id).cloned());
        if target.r#type == "page" {
            let expected =
                resident.as_ref().filter(|_| target.opener_id.is_none()).and_then(|r| r.expected());
            match expected {
                Some(expected) => {
                    let arrival = Arrival { session: session.into(), target: target.target_id };
                    // Whoever asked may have left; the page then stays empty until its context goes.
                    let _ = expected.send(arrival);
                }
                None => unseen(connection, session.into(), target.target_id),
            }
            return;
        }
        // What belongs to nobody stays where it is.
        let Some(resident) = resident else { return };
        if target.r#type == "shared_worker" && resident.fence.watches_paths() {
            // The browser lets some of its requests pass unwatched, so it does not run.
            connection.tell(None, "Target.closeTarget", &json!({ "targetId": target.target_id }));
            resident.console.add("warning", "A shared worker was closed: the URL rules name paths", None);
            return;
        }
        Watch::release(connection, &session, &resident.fence);
    }
}

/// How long a window that loads nothing stays.
const UNSEEN: Duration = Duration::from_secs(1);

/// A window that is to be closed without having loaded anything.
#[derive(Debug)]
struct Unseen(String);

/// Closes a window. It would block its opener until it runs, so it runs, and its first request is its last: were it only
/// closed, the request might go out after all.
fn unseen(connection: &Arc<Connection>, session: Session, target: String) {
    let window = Arc::new(Unseen(target));
    connection.listen(Arc::clone(&session), Arc::clone(&window) as Arc<dyn Listener>);
    watch::release_watched(connection, session);
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        tokio::time::sleep(UNSEEN).await;
        window.close(&connection);
    });
}

impl Unseen {
    fn close(&self, connection: &Connection) {
        // One that is closed already cannot be closed again, which is as well.
        connection.tell(None, "Target.closeTarget", &json!({ "targetId": self.0 }));
    }
}

impl Listener for Unseen {
    fn event(
        self: Arc<Self>,
        connection: &Arc<Connection>,
        session: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        if method == "Fetch.requestPaused" {
            watch::fail(connection, session, params);
            self.close(connection);
        }
    }
}

impl Listener for Lobby {
    fn event(
        self: Arc<Self>,
        connection: &Arc<Connection>,
        _: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        match method {
            "Target.attachedToTarget" => {
                if let Ok(arrived) = serde_json::from_str(params.get()) {
                    self.arrived(connection, arrived);
                }
            }
            "Target.detachedFromTarget" => {
                let Ok(left) = serde_json::from_str::<Detached>(params.get()) else { return };
                if let Some(listener) = connection.listener(&left.session_id) {
                    listener.event(connection, Some(&left.session_id), "Inspector.detached", params);
                }
                connection.forget(&left.session_id);
            }
            _ => {}
        }
    }
}
