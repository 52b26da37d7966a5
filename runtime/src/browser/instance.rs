//! One running browser.

use super::cdp::{CdpError, Connection, Listener, Pipes};
use super::error::BrowserError;
use super::find;
use super::flags;
use super::lobby::{Lobby, Resident};
use super::page::Page;
use super::profile::Profile;
use super::proxy::Proxy;
use crate::process::{
    Engine, Full, Job, Kind, Launch, Owner, Program, Reason, Screen, SpawnError, Stdin, Stream,
};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a browser may take to start.
const START: Duration = Duration::from_secs(30);

/// Bytes kept of what it prints, to say why it did not start.
const KEEP: usize = 16 * 1024;

/// Where profiles are.
const TEMPORARY: &str = "/tmp";

/// A browser that runs.
#[derive(Debug)]
pub(super) struct Browser {
    pub(super) connection: Arc<Connection>,
    lobby: Arc<Lobby>,
    job: Arc<Job>,
    usage: Mutex<Usage>,
}

#[derive(Debug)]
struct Usage {
    visits: usize,
    since: Instant,
}

/// Counts a visit while it lasts: a browser that is in use is not idle.
#[derive(Debug)]
pub(super) struct InUse(Arc<Browser>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.used(|visits| visits - 1);
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    browser_context_id: String,
}

impl Browser {
    /// Starts a browser. Under root there is no sandbox that it could use; elsewhere it is tried with its sandbox first,
    /// and without where the container gives it none.
    pub(super) async fn start(engine: &Arc<Engine>, named: Option<&str>) -> Result<Arc<Self>, BrowserError> {
        let user = engine.child();
        let root = user.map_or_else(|| rustix::process::geteuid().is_root(), |user| user.uid == 0);
        if root {
            return Self::launch(engine, named, false).await.map_err(|(error, _)| error);
        }
        match Self::launch(engine, named, true).await {
            Err((_, said)) if said.contains("sandbox") => {
                crate::log::say(format_args!(
                    "warning: the browser gets no sandbox of its own here and runs without one"
                ));
                Self::launch(engine, named, false).await
            }
            started => started,
        }
        .map_err(|(error, _)| error)
    }

    /// Starts it; with the error comes what it printed.
    async fn launch(
        engine: &Arc<Engine>,
        named: Option<&str>,
        sandboxed: bool,
    ) -> Result<Arc<Self>, (BrowserError, String)> {
        let unavailable = |why: String| (BrowserError::Unavailable(why), String::new());
        let (program, name) = find::find(&engine.programs, named).map_err(unavailable)?;
        let failed = |error: std::io::Error| unavailable(format!("The browser cannot be started: {error}"));
        let profile = Profile::new(Path::new(TEMPORARY), engine.child()).map_err(failed)?;
        let pipes = Pipes::new().map_err(failed)?;
        let arguments = flags::arguments(&name, profile.path(), sandboxed);
        let launch = launch(engine, program, arguments, &profile).map_err(unavailable)?;
        let job = engine
            .spawn_driven(launch, &pipes.child)
            .map_err(|error: SpawnError| unavailable(format!("The browser cannot be started: {error}")))?;
        let lobby = Arc::<Lobby>::default();
        let connection = pipes.connect(Arc::clone(&lobby) as Arc<dyn Listener>);
        let usage = Mutex::new(Usage { visits: 0, since: Instant::now() });
        let browser = Arc::new(Self { connection, lobby, job, usage });
        tokio::spawn(Arc::clone(&browser).outlive(profile));
        match tokio::time::timeout(START, browser.greet()).await {
            Ok(Ok(())) => Ok(browser),
            outcome => {
                browser.end();
                let said = browser.said().await;
                let why = match outcome {
                    Err(_) => "it does not answer".to_owned(),
                    Ok(_) => said.lines().last().unwrap_or("it ended at once").to_owned(),
                };
                Err((BrowserError::Unavailable(format!("The browser did not start: {why}")), said))
            }
        }
    }

    /// The first command: be told of every page and worker before it runs.
    async fn greet(&self) -> Result<(), CdpError> {
        let told = |kind: &str| json!({ "type": kind, "exclude": false });
        let filter =
            json!([told("page"), told("service_worker"), told("shared_worker"), { "exclude": true }]);
        let params =
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter });
        self.connection.call::<serde_json::Value>(None, "Target.setAutoAttach", &params).await.map(|_| ())
    }

    /// Ends what is left of a browser once one half of it has gone, and its profile with it.
    async fn outlive(self: Arc<Self>, profile: Profile) {
        tokio::select! {
            () = self.connection.closed() => {}
            _ = self.job.ended() => {}
        }
        self.end();
        self.job.ended().await;
        // Deleting some hundred files holds up nobody there.
        let _ = tokio::task::spawn_blocking(move || drop(profile)).await;
    }

    /// Ends it.
    pub(super) fn end(&self) {
        self.connection.close();
        self.job.end(Reason::Disconnect);
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.connection.is_closed()
    }

    /// What it printed, once it has ended.
    async fn said(&self) -> String {
        let _ = tokio::time::timeout(Duration::from_secs(5), self.job.ended()).await;
        String::from_utf8_lossy(&self.job.log().slice(Stream::Stderr, 0, usize::MAX).1).into_owned()
    }

    /// A context of its own for a resident, whose pages reach the network through this proxy alone.
    pub(super) async fn context(
        &self,
        resident: Arc<Resident>,
        proxy: &Proxy,
    ) -> Result<String, BrowserError> {
        let params = json!({
            "disposeOnDetach": true, "proxyServer": proxy.rules(), "proxyBypassList": "<-loopback>",
        });
        let context: Context = self.connection.call(None, "Target.createBrowserContext", &params).await?;
        let id = context.browser_context_id;
        self.lobby.settle(&id, resident);
        let params = json!({ "behavior": "deny", "browserContextId": id });
        self.connection.tell(None, "Browser.setDownloadBehavior", &params);
        Ok(id)
    }

    /// A new, empty page in a context.
    pub(super) async fn page(&self, context: &str, resident: &Resident) -> Result<Arc<Page>, BrowserError> {
        let arrives = resident.expect();
        let params = json!({ "url": "about:blank", "browserContextId": context });
        let made = self.connection.call::<serde_json::Value>(None, "Target.createTarget", &params);
        let (made, arrival) = tokio::join!(made, async {
            tokio::select! {
                arrival = arrives => arrival.ok(),
                () = self.connection.closed() => None,
            }
        });
        made?;
        let arrival = arrival.ok_or(CdpError::Closed)?;
        Ok(Page::open(&self.connection, arrival, resident).await?)
    }

    /// Counts a visit.
    pub(super) fn visit(self: &Arc<Self>) -> InUse {
        self.used(|visits| visits + 1);
        InUse(Arc::clone(self))
    }

    /// For how long nobody has used it.
    pub(super) fn idle(&self) -> Duration {
        let usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        if usage.visits > 0 { Duration::ZERO } else { usage.since.elapsed() }
    }

    fn used(&self, change: impl FnOnce(usize) -> usize) {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        *usage = Usage { visits: change(usage.visits), since: Instant::now() };
    }
}

/// How the process engine is to start it. It inherits what children inherit, less what would change how it starts, and
/// keeps its temporary files in the profile.
fn launch(
    engine: &Engine,
    program: Program,
    arguments: Vec<String>,
    profile: &Profile,
) -> Result<Launch, String> {
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let directory = rustix::fs::open(profile.path(), flags, rustix::fs::Mode::empty())
        .map_err(|error| format!("The browser cannot be started: {error}"))?;
    let own = BTreeMap::from([("TMPDIR".to_owned(), profile.path().display().to_string())]);
    let denied = |name: &str| name.starts_with("CHROM") || name == "SSLKEYLOGFILE";
    let environment = engine
        .environment
        .block(&own, denied)
        .map_err(|error| format!("The browser cannot be started: {error}"))?;
    Ok(Launch {
        program,
        title: "browser".to_owned(),
        arguments,
        environment,
        directory,
        input: Stdin::Empty,
        screen: Screen::Pipes,
        keep: KEEP,
        full: Full::DropOldest,
        lifetime: None,
        kind: Kind::Call,
        owner: Owner::from(""),
    })
}
