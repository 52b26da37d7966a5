//! The life of a running server: bind, accept, reload, stop.

use super::policy::Loader;
use super::signals::{Signals, any};
use super::{Fault, LAST_CALLS, Options, flags};
use crate::agents::automation;
use crate::app::{App, Settings, Unprepared};
use crate::cli::Exit;
use crate::env::Env;
use crate::http::{Crowd, listen};
use crate::log;
use policy_lang::endpoint::Listener;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How long calls under way may take to end after a stop; what is left then is cut. With the end of all children, which
/// comes first, and the last lines of the audit log this stays below ten seconds.
const GRACE: Duration = Duration::from_secs(4);

/// How long the first answer has the machine to itself: on few cores it and what is left of the start hold each other up.
const FIRST_ANSWER: Duration = Duration::from_millis(2);

/// Most connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Most threads that serve connections: a container on a large host must not pay a stack for each of its cores.
const MOST_WORKERS: usize = 4;

/// The async runtime. Several threads although one would answer slightly faster: a handler that computes for long must
/// not hold up the others.
pub(super) fn runtime() -> io::Result<Runtime> {
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

/// Binds, in the runtime. The second listener is opened only where `pty_connect` answers.
pub(super) fn bind(options: &Options, env: &Env, terminals: bool) -> Result<Sockets, Fault> {
    let (http, http_at) = bind_one(options.host, options.port, "--port")?;
    let pty = match terminals {
        true => Some(bind_one(options.host, flags::pty_port(options, env)?, "--pty-port")?),
        false => None,
    };
    Ok(Sockets { http, http_at, pty })
}

fn bind_one(host: IpAddr, port: u16, flag: &str) -> Result<(TcpListener, SocketAddr), Fault> {
    let wanted = SocketAddr::new(host, port);
    let failed = |error| {
        Fault::failed(format!("cannot listen on {wanted}: {error}"))
            .help(format!("choose another port with {flag}"))
    };
    let socket = listener(wanted).map_err(failed)?;
    let at = socket.local_addr().map_err(failed)?;
    Ok((socket, at))
}

fn listener(wanted: SocketAddr) -> io::Result<TcpListener> {
    let socket = if wanted.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port that the server before has just left is free.
    socket.set_reuseaddr(true)?;
    socket.bind(wanted)?;
    socket.listen(BACKLOG)
}

/// Serves until a signal says stop, then ends what is under way. What is left of the start is done here, by the thread that has
/// nothing else to do and whose memory is warm; another hears the signals meanwhile.
///
/// # Errors
/// A policy that cannot be prepared.
pub(super) async fn run(
    app: &Arc<App>,
    loader: Loader,
    sockets: Sockets,
    signals: Signals,
) -> Result<(), Fault> {
    let (tasks, crowd) = (TaskTracker::new(), Arc::new(Crowd::at_start()));
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
    let (tell, prepared) = oneshot::channel();
    let ended = tokio::spawn(until_ended(Arc::clone(app), loader, signals, prepared, tasks, crowd));
    // A call that needs it does not wait for the time.
    let _ = timeout(FIRST_ANSWER, app.until_wanted()).await;
    // Nobody listens any more where the server is ending.
    let _ = tell.send(prepare(app));
    ended.await.unwrap_or_else(|error| Err(Fault::failed(format!("the server failed: {error}"))))
}

/// Does what can be done behind the open port. Who asks for health is answered meanwhile; whatever touches the machine waits: no
/// child may run before the directories are held.
fn prepare(app: &App) -> Result<(), Fault> {
    #[cfg(debug_assertions)]
    hold_up(&app.env).map_err(|error| unprepared(Unprepared::Directories(error)))?;
    app.policy().prepare(None).map_err(unprepared)
}

async fn until_ended(
    app: Arc<App>,
    loader: Loader,
    signals: Signals,
    mut prepared: oneshot::Receiver<Result<(), Fault>>,
    tasks: TaskTracker,
    crowd: Arc<Crowd>,
) -> Result<(), Fault> {
    let ended = until_told(&app, loader, signals, &mut prepared, &crowd).await;

    log::say(format_args!("stopping"));
    app.stopping.cancel();
    tasks.close();
    app.processes.shutdown().await;
    tokio::select! {
        () = tasks.wait() => {}
        () = tokio::time::sleep(GRACE) => log::say(format_args!("calls were still under way and are cut")),
    }
    if !prepared.is_terminated() && timeout(LAST_CALLS, prepared).await.is_err() {
        leave(&app);
    }
    ended
}

/// Ends the process although its first thread is still at work: a directory that does not answer cannot be waited for.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the thread that would return cannot be told")]
fn leave(app: &App) -> ! {
    super::write_last_lines(app);
    std::process::exit(Exit::Success.code().into())
}

/// Reads the policy anew as often as a signal says so, until one says stop. That is done on a thread of its own: a file or a
/// directory that does not answer must not keep the server from its end.
async fn until_told(
    app: &Arc<App>,
    loader: Loader,
    signals: Signals,
    prepared: &mut oneshot::Receiver<Result<(), Fault>>,
    crowd: &Crowd,
) -> Result<(), Fault> {
    let Signals { mut stop, reload: mut again } = signals;
    tokio::select! {
        () = any(&mut stop) => return Ok(()),
        // Whoever should tell is gone where the process panics.
        prepared = prepared => prepared.unwrap_or_else(|_| Err(Fault::failed("the start failed")))?,
    }
    crowd.open_up();
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
fn hold_up(env: &Env) -> io::Result<()> {
    let Some(file) = &env.test_hold else { return Ok(()) };
    while let Ok(text) = std::fs::read_to_string(file) {
        if text == "fail" {
            return Err(io::Error::other("held up by a test"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn unprepared(error: Unprepared) -> Fault {
    let fault = Fault::failed(error.to_string());
    match error {
        Unprepared::Policy(_, error) => fault.help(error.help()),
        Unprepared::Directories(_) => fault,
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
