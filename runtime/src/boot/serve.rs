//! The life of a running server: bind, accept, reload, stop.

use super::policy::Loader;
use super::{Fault, Options, flags};
use crate::agents::automation;
use crate::app::{App, Settings};
use crate::env::Env;
use crate::http::{Crowd, MAX_CONNECTIONS, listen};
use crate::log;
use policy_lang::endpoint::Listener;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio_util::task::TaskTracker;

/// How long calls under way may take to end after a stop; what is left then is cut. With the end of all children, which
/// comes first, and the last lines of the audit log this stays below ten seconds.
const GRACE: Duration = Duration::from_secs(4);

/// Most threads that serve connections: a container on a large host must not pay a stack for each of its cores.
const MOST_WORKERS: usize = 4;

/// The async runtime. Several threads although one would answer slightly faster: a handler that computes for long must
/// not hold up the others.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_WORKERS));
    Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// The bound listeners.
#[derive(Debug)]
pub(super) struct Sockets {
    http: TcpListener,
    http_at: SocketAddr,
    pty: Option<(TcpListener, SocketAddr)>,
}

impl Sockets {
    /// Puts the ports that were bound into the settings.
    pub(super) fn settle(&self, settings: Settings) -> Settings {
        let pty_port = self.pty.as_ref().map_or(settings.pty_port, |(_, at)| at.port());
        Settings { http_port: self.http_at.port(), pty_port, ..settings }
    }
}

/// Binds. The second listener is opened only where `pty_connect` answers.
pub(super) async fn bind(options: &Options, env: &Env, terminals: bool) -> Result<Sockets, Fault> {
    let (http, http_at) = bind_one(options.host, options.port, "--port").await?;
    let pty = match terminals {
        true => Some(bind_one(options.host, flags::pty_port(options, env)?, "--pty-port").await?),
        false => None,
    };
    Ok(Sockets { http, http_at, pty })
}

async fn bind_one(host: IpAddr, port: u16, flag: &str) -> Result<(TcpListener, SocketAddr), Fault> {
    let wanted = SocketAddr::new(host, port);
    let failed = |error| {
        Fault::failed(format!("cannot listen on {wanted}: {error}"))
            .help(format!("choose another port with {flag}"))
    };
    let socket = TcpListener::bind(wanted).await.map_err(failed)?;
    let at = socket.local_addr().map_err(failed)?;
    Ok((socket, at))
}

/// Serves until a signal says stop, then ends what is under way.
///
/// # Errors
/// A policy that cannot be prepared.
pub(super) async fn run(
    app: &Arc<App>,
    loader: Loader,
    sockets: Sockets,
    signals: Signals,
) -> Result<(), Fault> {
    let (tasks, crowd) = (TaskTracker::new(), Arc::new(Crowd::new(MAX_CONNECTIONS)));
    let accept = |socket, listener| {
        tasks.spawn(listen(Arc::clone(app), socket, listener, Arc::clone(&crowd), tasks.clone()));
    };
    let Sockets { http, http_at, pty } = sockets;
    accept(http, Listener::Http);
    match pty {
        None => log::say(format_args!("listening on http://{http_at}")),
        Some((pty, pty_at)) => {
            accept(pty, Listener::Pty);
            log::say(format_args!("listening on http://{http_at}, terminals on ws://{pty_at}/pty"));
        }
    }
    let ended = until_told(app, loader, signals).await;

    log::say(format_args!("stopping"));
    app.stopping.cancel();
    tasks.close();
    app.processes.shutdown().await;
    tokio::select! {
        () = tasks.wait() => {}
        () = tokio::time::sleep(GRACE) => log::say(format_args!("calls were still under way and are cut")),
    }
    ended
}

/// Prepares the policy, then reads it anew as often as a signal says so, until one says stop. The work is done on a thread of
/// its own: it may take long, and a directory or a file that does not answer must not keep the server from its end.
async fn until_told(app: &Arc<App>, loader: Loader, signals: Signals) -> Result<(), Fault> {
    let Signals { mut stop, reload: mut again } = signals;
    let preparing = Arc::clone(app);
    // Who asks for health is answered meanwhile. Whatever touches the machine waits: no child may run before the directories
    // are held.
    let prepared = spawn_blocking(move || {
        #[cfg(debug_assertions)]
        hold_up(&preparing.env)?;
        preparing.policy().prepare(None)
    });
    tokio::select! {
        () = any(&mut stop) => return Ok(()),
        prepared = prepared => prepared.map_err(std::io::Error::other).flatten().map_err(unprepared)?,
    }
    app.set_prepared();
    if let Some(worker) = &app.commands.worker {
        tokio::spawn(Arc::clone(worker).run(Arc::clone(&app.processes), app.stopping.clone()));
    }
    tokio::spawn(automation::resume(Arc::clone(app)));
    let loader = Arc::new(loader);
    loop {
        tokio::select! {
            () = any(&mut stop) => return Ok(()),
            () = again.next() => {}
        }
        let (app, loader) = (Arc::clone(app), Arc::clone(&loader));
        let reloaded = spawn_blocking(move || reload(&app, &loader));
        // Another signal to reload is remembered meanwhile.
        tokio::select! {
            () = any(&mut stop) => return Ok(()),
            // A panic has been told, and the old policy stays.
            _ = reloaded => {}
        }
    }
}

/// Waits while the file is there that a test has named, and fails where the test wants it.
#[cfg(debug_assertions)]
fn hold_up(env: &Env) -> std::io::Result<()> {
    let Some(file) = &env.test_hold else { return Ok(()) };
    while let Ok(text) = std::fs::read_to_string(file) {
        if text == "fail" {
            return Err(std::io::Error::other("held up by a test"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn unprepared(error: std::io::Error) -> Fault {
    Fault::failed(format!("cannot open the directories that the policy names: {error}"))
}

/// The signals that a server obeys.
pub(super) struct Signals {
    stop: [Heard; 2],
    reload: Heard,
}

impl Signals {
    /// Listens from here on.
    pub(super) fn listen() -> Self {
        Self {
            stop: [
                Heard::of(SignalKind::terminate(), "SIGTERM"),
                Heard::of(SignalKind::interrupt(), "SIGINT"),
            ],
            reload: Heard::of(SignalKind::hangup(), "SIGHUP"),
        }
    }
}

/// A signal; nothing where the system does not let us hear it.
struct Heard(Option<Signal>);

impl Heard {
    fn of(kind: SignalKind, name: &str) -> Self {
        let deaf = |error| log::say(format_args!("cannot listen to {name}: {error}"));
        Self(signal(kind).map_err(deaf).ok())
    }

    async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Waits for one of them.
async fn any([one, other]: &mut [Heard; 2]) {
    tokio::select! {
        () = one.next() => {}
        () = other.next() => {}
    }
}

/// Puts the policy of the source into force, where it is one; keeps the old one otherwise.
fn reload(app: &App, loader: &Loader) {
    let earlier = app.policy();
    let loaded = loader.load(&app.env, Some(&earlier)).and_then(|loaded| {
        loaded.state.prepare(Some(&earlier)).map_err(unprepared)?;
        Ok(loaded)
    });
    match loaded {
        Ok(loaded) => {
            loaded.tell();
            if loaded.state.serves_terminals() && !earlier.serves_terminals() {
                log::say(format_args!(
                    "`pty_connect` is open now; where its listener is closed it opens at the next start"
                ));
            }
            app.replace_policy(loaded.state);
            log::say(format_args!("policy reloaded"));
        }
        Err(fault) => {
            log::show(fault.findings());
            log::say(format_args!("the policy was not reloaded, the old one stays: {fault}"));
        }
    }
}
