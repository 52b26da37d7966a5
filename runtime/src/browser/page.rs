//! One page: what is known of it from its events, and what can be done to it.
//!
//! Every operation is bounded by whoever awaits it: dropping its future gives it up. Scripts of ours run in a world of
//! their own, where the page's scripts cannot change what they call.
//!
//! | module | |
//! |---|---|
//! | `events` | what the page tells by itself; dialogs are closed at once |
//! | `watch` | requests whose path the rules name |
//! | `world` | our scripts in the page |
//! | `selector` | which element is meant |
//! | `navigate`, `content`, `evaluate`, `click`, `typing`, `picture`, `print` | the operations |
//! | `keys` | the keys of a text; `pdf` the pages of a document |

mod click;
mod content;
mod evaluate;
mod events;
mod keys;
mod navigate;
mod pdf;
mod picture;
mod print;
mod selector;
mod typing;
pub(super) mod watch;
mod world;

pub use content::Content;
pub use evaluate::Evaluated;
pub use navigate::{Loaded, Stage};
pub use picture::{Picture, PictureKind, Shot};
pub use print::{Paper, Printed};
pub use typing::Typing;
pub(super) use watch::Watch;

use super::cdp::{CdpError, Connection, Listener, Session};
use super::console::Console;
use super::error::BrowserError;
use super::fence::Fence;
use super::lobby::{Arrival, Resident};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch as channel;

/// The size of every page, in pixels.
const VIEWPORT: (u32, u32) = (1280, 720);

/// How long a page that was cut off in something may take to answer, and again once its script was stopped.
const PATIENCE: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(1)];

/// Documents that are remembered by their loader.
const REMEMBERED: usize = 8;

/// A page.
#[derive(Debug)]
pub struct Page {
    connection: Arc<Connection>,
    session: Session,
    /// Its target, which is the id of its main frame too.
    target: String,
    console: Arc<Console>,
    fence: Arc<Fence>,
    state: channel::Sender<State>,
    /// The world of our scripts, in the document that it is in.
    world: Mutex<Option<(u64, i64)>>,
    /// Whether requests are watched.
    watched: AtomicBool,
}

/// What events have told.
#[derive(Debug, Default)]
struct State {
    /// Documents so far.
    documents: u64,
    /// Loaders of the latest documents, the current one last.
    loaders: VecDeque<String>,
    /// How far the current document is.
    interactive: bool,
    loaded: bool,
    idle: bool,
    /// A navigation was asked for by the page.
    announced: bool,
    /// A navigation has begun and not come to an end.
    moving: bool,
    /// The URL that could not be loaded, where an error page stands in its place.
    unreachable: Option<String>,
    /// It crashed or was closed.
    gone: bool,
}

impl Page {
    /// Takes over a page that waits to be let go on.
    pub(super) async fn open(
        connection: &Arc<Connection>,
        arrival: Arrival,
        resident: &Resident,
    ) -> Result<Arc<Self>, CdpError> {
        let page = Arc::new(Self {
            connection: Arc::clone(connection),
            session: arrival.session,
            target: arrival.target,
            console: Arc::clone(&resident.console),
            fence: Arc::clone(&resident.fence),
            state: channel::Sender::new(State::default()),
            world: Mutex::default(),
            watched: AtomicBool::new(false),
        });
        connection.listen(Arc::clone(&page.session), Arc::clone(&page) as Arc<dyn Listener>);
        let (width, height) = VIEWPORT;
        let viewport = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.tell("Page.enable", json!({}));
        page.tell("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        page.tell("Runtime.enable", json!({}));
        page.tell("Log.enable", json!({}));
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        page.tell("Target.setAutoAttach", attach);
        page.tell("Emulation.setDeviceMetricsOverride", viewport);
        page.tell("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        page.watch_paths().await?;
        // Its process must be there: one that is sent elsewhere before that counts as crashed.
        let _: Value = page.call("Runtime.runIfWaitingForDebugger", json!({})).await?;
        Ok(page)
    }

    /// Whether it crashed or was closed.
    pub(super) fn is_gone(&self) -> bool {
        self.state.borrow().gone || self.connection.is_closed()
    }

    /// Closes it.
    pub(super) fn close(&self) {
        self.state.send_modify(|state| state.gone = true);
        self.connection.tell(None, "Target.closeTarget", &json!({ "targetId": self.target }));
        self.connection.forget(&self.session);
    }

    /// Has its requests watched, where rules name paths, and no longer where they do not.
    pub(super) async fn watch_paths(&self) -> Result<(), CdpError> {
        let wanted = self.fence.watches_paths();
        if self.watched.load(Ordering::Relaxed) != wanted {
            let method = if wanted { "Fetch.enable" } else { "Fetch.disable" };
            let _: Value = self.call(method, json!({})).await?;
            self.watched.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether it still does what it is told; a script that keeps it from that is stopped first.
    pub(super) async fn answers(&self) -> bool {
        for patience in PATIENCE {
            let ping = self.call::<Value>("Runtime.evaluate", json!({ "expression": "1" }));
            if matches!(tokio::time::timeout(patience, ping).await, Ok(Ok(_))) {
                return true;
            }
            self.tell("Runtime.terminateExecution", json!({}));
        }
        false
    }

    async fn call<R: DeserializeOwned>(&self, method: &str, params: impl Serialize) -> Result<R, CdpError> {
        if self.state.borrow().gone {
            return Err(CdpError::Gone);
        }
        self.connection.call(Some(&self.session), method, &params).await
    }

    fn tell(&self, method: &str, params: impl Serialize) {
        self.connection.tell(Some(&self.session), method, &params);
    }

    /// Waits until the page's state is as wanted.
    async fn until(&self, wanted: impl Fn(&State) -> bool) -> Result<(), BrowserError> {
        let mut state = self.state.subscribe();
        let ended = async {
            let state = state.wait_for(|state| state.gone || wanted(state)).await;
            // The sender lives as long as `self`.
            state.map_err(|_| CdpError::Gone).and_then(|s| if s.gone { Err(CdpError::Gone) } else { Ok(()) })
        };
        let ended = tokio::select! {
            ended = ended => ended,
            () = self.connection.closed() => Err(CdpError::Closed),
        };
        ended.map_err(BrowserError::from)
    }
}
