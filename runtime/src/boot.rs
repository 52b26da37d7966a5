//! From flags and environment to a running server. Any fault before the first connection is one message and an exit status.
//!
//! The order: read the environment, load the commands and the policy, open the audit log, bind, accept, prepare what the first call
//! to a file needs. What a reload repeats is in [`policy`]; everything else is settled for the life of the process.

mod children;
pub(crate) mod commands;
mod fault;
mod flags;
mod harden;
mod memory;
mod policy;
pub(crate) mod read;
mod serve;
mod signals;
pub(crate) mod source;

pub use fault::Fault;
pub use flags::Options;

use crate::app::App;
use crate::audit::Audit;
use crate::env::Env;
use crate::guard::Seals;
use crate::log;
use policy::Loader;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long calls that were cut may take to notice,
const LAST_CALLS: Duration = Duration::from_millis(500);
/// and how long what was written to a log may take to reach its file then.
pub(crate) const LAST_LINES: Duration = Duration::from_secs(1);

/// Runs a server until it is told to stop.
///
/// # Errors
/// What kept it from starting.
pub fn run(options: Options) -> Result<(), Fault> {
    start(options, None)
}

/// The same with what the program that embeds the server brings, instead of `--commands`.
pub(crate) fn run_with(options: Options, declared: commands::Declared) -> Result<(), Fault> {
    start(options, Some(declared))
}

fn start(options: Options, declared: Option<commands::Declared>) -> Result<(), Fault> {
    memory::bound();
    harden::process();
    harden::panics();
    let mut env = Env::read();
    let settings = flags::settings(&options, &env)?;
    let user = children::user(&options)?;
    let declared = declared.map_or_else(|| commands::find(&options, &env, user.as_ref()), Ok)?;
    let seals = Arc::<Seals>::default();
    let loader = Loader::new(&options, &settings, &declared, &env, Arc::clone(&seals))?;
    let loaded = loader.load(&env, None)?;
    // From here on no secret is read from the environment any more, and no second thread exists yet.
    env.scrub();
    loaded.tell();
    if let Some(warning) = children::exposure(user.as_ref()) {
        log::say(format_args!("warning: {warning}"));
    }
    let audit = open_audit(env.audit_file.as_deref(), seals)?;
    let runtime = serve::runtime().map_err(|error| Fault::failed(format!("cannot start: {error}")))?;
    let (app, served) = runtime.block_on(async {
        // Before anyone can know that we listen: a signal must find its handler.
        let signals = signals::Signals::listen();
        let sockets = serve::bind(&options, &env, loaded.state.serves_terminals())?;
        let processes = children::engine(&options, &env, &loaded.state, user.as_ref())?;
        let app = Arc::new(App::new(
            loaded.state,
            sockets.settle(settings),
            audit,
            env,
            processes,
            declared.commands(),
        ));
        // The last fault that is told in person.
        log::detach().map_err(|error| Fault::failed(format!("cannot start the log: {error}")))?;
        let served = serve::run(&app, loader, sockets, signals).await;
        Ok::<_, Fault>((app, served))
    })?;
    // What is still under way ends here, and writes how.
    runtime.shutdown_timeout(LAST_CALLS);
    write_last_lines(&app);
    served
}

fn write_last_lines(app: &App) {
    app.processes.flush_forwarded(LAST_LINES);
    app.audit.flush(LAST_LINES);
    log::flush(LAST_LINES);
}

fn open_audit(file: Option<&str>, seals: Arc<Seals>) -> Result<Audit, Fault> {
    match file {
        Some(path) => Audit::to_file(Path::new(path), seals).map_err(|error| {
            Fault::failed(format!("cannot open the audit log `{path}`: {error}"))
                .help("set ABX_AUDIT_FILE to a file that can be written, or unset it to log to stderr")
        }),
        None => {
            Audit::to_stderr().map_err(|error| Fault::failed(format!("cannot start the audit log: {error}")))
        }
    }
}
