//! What a page tells by itself, and what is done about it at once: nothing that a page does may hold up a call.

use super::super::cdp::{Connection, Listener};
use super::super::lobby::{Attached, Detached};
use super::{Page, REMEMBERED, State, watch};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::{Arc, PoisonError};

/// `Page.lifecycleEvent`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    frame_id: String,
    loader_id: String,
    name: String,
}

/// `Page.frameNavigated`.
#[derive(Debug, Deserialize)]
struct Navigated {
    frame: Frame,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    unreachable_url: Option<String>,
}

/// Any event that names a frame.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
}

/// `Page.javascriptDialogOpening`.
#[derive(Debug, Deserialize)]
struct Dialog {
    r#type: String,
    message: String,
}

/// `Page.windowOpen`.
#[derive(Debug, Deserialize)]
struct WindowOpen {
    url: String,
}

impl Listener for Page {
    fn event(
        self: Arc<Self>,
        connection: &Arc<Connection>,
        session: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        let Some(session) = session else { return };
        match method {
            "Runtime.consoleAPICalled" => read(params, |called| self.console.called(&called)),
            "Runtime.exceptionThrown" => read(params, |thrown| self.console.thrown(&thrown)),
            "Log.entryAdded" => read(params, |added| self.console.added(&added)),
            "Fetch.requestPaused" => {
                read(params, |paused| watch::judge(connection, session, &self.fence, &paused));
            }
            "Target.attachedToTarget" => read(params, |attached: Attached| {
                // Frames of other sites and workers: they speak and load as the page does.
                let inner = attached.session_id;
                connection.listen(inner.as_str().into(), Arc::clone(&self) as Arc<dyn Listener>);
                connection.tell(Some(&inner), "Runtime.enable", &json!({}));
                connection.tell(Some(&inner), "Log.enable", &json!({}));
                if attached.target_info.r#type == "iframe" {
                    connection.tell(Some(&inner), "Page.enable", &json!({}));
                }
                let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
                connection.tell(Some(&inner), "Target.setAutoAttach", &attach);
                if attached.target_info.r#type == "worker" {
                    // It has no requests of its own to watch: what it loads is stopped where its page's requests are.
                    watch::go_on(connection, &inner);
                } else {
                    watch::release(connection, &inner, &self.fence);
                }
            }),
            "Target.detachedFromTarget" => {
                read(params, |detached: Detached| connection.forget(&detached.session_id));
            }
            "Page.javascriptDialogOpening" => read(params, |dialog: Dialog| {
                // A page that asks whether to be left is left; nobody is there to say yes to anything else.
                let leaves = dialog.r#type == "beforeunload";
                connection.tell(Some(session), "Page.handleJavaScriptDialog", &json!({ "accept": leaves }));
                self.console.add("dialog", &format!("{}: {}", dialog.r#type, dialog.message), None);
            }),
            "Page.windowOpen" => {
                read(params, |opened: WindowOpen| self.console.add("popup", &opened.url, None));
            }
            _ if *session == *self.session => self.own(connection, method, params),
            _ => {}
        }
    }
}

impl Page {
    /// Events of the main frame's own session.
    fn own(&self, connection: &Connection, method: &str, params: &RawValue) {
        match method {
            "Page.lifecycleEvent" => read(params, |event: Lifecycle| {
                if event.frame_id == self.target {
                    self.state.send_modify(|state| state.lifecycle(event));
                }
            }),
            "Page.frameNavigated" => read(params, |Navigated { frame }: Navigated| {
                if frame.id == self.target {
                    *self.world.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    self.state.send_modify(|state| state.unreachable = frame.unreachable_url);
                }
            }),
            "Page.frameStartedLoading"
            | "Page.frameStoppedLoading"
            | "Page.frameScheduledNavigation"
            | "Page.frameRequestedNavigation" => read(params, |event: OfFrame| {
                if event.frame_id == self.target {
                    self.state.send_modify(|state| state.move_on(method));
                }
            }),
            "Inspector.targetCrashed" | "Inspector.detached" => {
                self.state.send_modify(|state| state.gone = true);
                connection.abandon(&self.session);
            }
            _ => {}
        }
    }
}

impl State {
    fn move_on(&mut self, method: &str) {
        match method {
            "Page.frameStartedLoading" => (self.announced, self.moving) = (false, true),
            "Page.frameStoppedLoading" => self.moving = false,
            _ => self.announced = true,
        }
    }

    fn lifecycle(&mut self, event: Lifecycle) {
        let current = self.loaders.back().is_some_and(|loader| *loader == event.loader_id);
        match &*event.name {
            "init" if !current => {
                self.documents += 1;
                (self.interactive, self.loaded, self.idle) = (false, false, false);
                self.unreachable = None;
                if self.loaders.len() == REMEMBERED {
                    self.loaders.pop_front();
                }
                self.loaders.push_back(event.loader_id);
            }
            "DOMContentLoaded" if current => self.interactive = true,
            "load" if current => self.loaded = true,
            "networkIdle" if current => self.idle = true,
            _ => {}
        }
    }
}

/// Reads the parameters; an event of another shape tells nothing.
fn read<T: DeserializeOwned>(params: &RawValue, then: impl FnOnce(T)) {
    if let Ok(event) = serde_json::from_str(params.get()) {
        then(event);
    }
}
