//! Starts a process: the one place from which any child of the server comes.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncWriteExt as _;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use super::apart::Apart;
use super::input::{Input, Writer};
use super::job::{Kind, Owner};
use super::programs::Program;
use super::pump::Source;
use super::ring::Full;
use super::sys::{self, Identity, Image, Plan};
use super::terminal::Terminal;

/// Everything that is to be known about a process before it starts.
#[derive(Debug)]
pub struct Launch {
    /// The judged program.
    pub program: Program,
    /// Its arguments, its own name first.
    pub arguments: Vec<String>,
    /// Its environment, from [`super::Environment::block`].
    pub environment: Vec<CString>,
    /// The opened working directory.
    pub directory: OwnedFd,
    /// What it reads.
    pub input: Stdin,
    /// Where it runs.
    pub screen: Screen,
    /// Bytes kept of each output stream.
    pub keep: usize,
    /// What happens beyond that.
    pub full: Full,
    /// How long it may live.
    pub lifetime: Option<Duration>,
    /// What it is for.
    pub kind: Kind,
    /// Who starts it.
    pub owner: Owner,
    /// The command for display.
    pub title: String,
}

/// Standard input.
#[derive(Debug)]
pub enum Stdin {
    /// End of file at once.
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// Open until a caller closes it.
    Open,
}

/// What the process sees as its screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// Two pipes, and no terminal anywhere.
    Pipes,
    /// A terminal of its own; standard input is the terminal too.
    Terminal {
        /// Width in characters.
        columns: u16,
        /// Height in lines.
        rows: u16,
    },
}

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// Arguments and environment are longer than the kernel takes.
    #[error("the command line and its environment are too long")]
    TooLong,
    /// An argument holds a NUL byte.
    #[error("an argument holds a NUL byte")]
    Nul,
    /// The file is no program for this machine, or may not be executed.
    #[error("`{0}` cannot be executed")]
    NotExecutable(String),
    /// As many processes run as may.
    #[error("too many processes")]
    TooMany {
        /// How many may.
        limit: usize,
    },
    /// As many terminals are open as may.
    #[error("Too many terminal sessions")]
    TooManyTerminals {
        /// How many may.
        limit: usize,
    },
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The machine has no more processes, descriptors or memory.
    #[error("the process could not be started")]
    System(#[source] io::Error),
}

/// A process that runs, and what its pump needs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) pid: i32,
    pub(super) pidfd: Arc<OwnedFd>,
    pub(super) watch: AsyncFd<Arc<OwnedFd>>,
    pub(super) outputs: [Option<Source>; 2],
    pub(super) input: Option<Input>,
}

/// What is the same for every child of one server.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) oom_score: Option<CString>,
    pub(super) identity: Option<Identity>,
    pub(super) null: OwnedFd,
    apart: Apart,
}

impl Common {
    pub(super) fn new(identity: Option<Identity>) -> io::Result<Self> {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        // Children are to die before the server does; nobody may go below what the server itself has.
        let own: i32 = std::fs::read_to_string("/proc/self/oom_score_adj")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        let oom_score = CString::new((own + 300).min(1000).to_string()).ok();
        Ok(Self { oom_score, identity, null, apart: Apart::of_server() })
    }

    /// Does from outside what a child cannot do itself while it shares the memory of a server that hides its own: only
    /// root may write there until it has executed.
    fn raise_oom_score(&self, pid: i32) {
        if let Some(score) = &self.oom_score
            && !rustix::process::geteuid().is_root()
        {
            // A child that is gone already needs no score.
            let _ = std::fs::write(format!("/proc/{pid}/oom_score_adj"), score.to_bytes());
        }
    }
}

/// Starts the process. One that is driven finds these handles as its descriptors from 3 on, and dies with this thread; a
/// process on a terminal is never driven.
pub(super) fn spawn(
    launch: &mut Launch,
    driven: Option<&[OwnedFd]>,
    common: &Common,
    tag: u64,
) -> Result<Running, SpawnError> {
    match launch.screen {
        Screen::Pipes => with_pipes(launch, driven, common, tag),
        Screen::Terminal { columns, rows } => with_terminal(launch, common, tag, columns, rows),
    }
}

fn with_pipes(
    launch: &mut Launch,
    driven: Option<&[OwnedFd]>,
    common: &Common,
    tag: u64,
) -> Result<Running, SpawnError> {
    let (out, out_end) = pipe_with(PipeFlags::CLOEXEC).map_err(system)?;
    let (err, err_end) = pipe_with(PipeFlags::CLOEXEC).map_err(system)?;
    let (stdin, writer) = match &launch.input {
        Stdin::Empty => (None, None),
        Stdin::Bytes(_) | Stdin::Open => {
            let (end, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(system)?;
            (Some(end), Some(pipe::Sender::from_owned_fd(writer).map_err(SpawnError::System)?))
        }
    };
    let out = pipe::Receiver::from_owned_fd(out).map_err(SpawnError::System)?;
    let err = pipe::Receiver::from_owned_fd(err).map_err(SpawnError::System)?;
    let stdin = stdin.as_ref().unwrap_or(&common.null).as_fd();
    let stdio = [stdin, out_end.as_fd(), err_end.as_fd()];
    let (pid, pidfd) = start(launch, driven, common, tag, stdio, None)?;
    let input = match (std::mem::replace(&mut launch.input, Stdin::Empty), writer) {
        (Stdin::Bytes(bytes), Some(mut writer)) => {
            // Ends by itself: with the last byte, or when the process closes its end.
            tokio::spawn(async move { writer.write_all(&bytes).await });
            None
        }
        (_, writer) => writer.map(|w| Input::new(Writer::Pipe(w))),
    };
    finish(pid, pidfd, [Some(Source::Pipe(out)), Some(Source::Pipe(err))], input)
}

fn with_terminal(
    launch: &Launch,
    common: &Common,
    tag: u64,
    columns: u16,
    rows: u16,
) -> Result<Running, SpawnError> {
    let (terminal, slave) = Terminal::open(columns, rows).map_err(SpawnError::System)?;
    let end = slave.as_fd();
    if let Some(identity) = common.identity {
        // Programs open their terminal by its name too.
        let (uid, gid) = (rustix::fs::Uid::from_raw(identity.uid), rustix::fs::Gid::from_raw(identity.gid));
        rustix::fs::fchown(end, Some(uid), Some(gid)).map_err(system)?;
    }
    let (pid, pidfd) = start(launch, None, common, tag, [end, end, end], Some(end))?;
    let input = Input::new(Writer::Terminal(terminal.clone()));
    finish(pid, pidfd, [Some(Source::Terminal(terminal)), None], Some(input))
}

fn finish(
    pid: i32,
    pidfd: OwnedFd,
    outputs: [Option<Source>; 2],
    input: Option<Input>,
) -> Result<Running, SpawnError> {
    let pidfd = Arc::new(pidfd);
    let watch = sys::watch(Arc::clone(&pidfd)).map_err(|e| {
        // Nobody could watch it: it must not run on.
        let _ = rustix::process::pidfd_send_signal(&pidfd, rustix::process::Signal::KILL);
        SpawnError::System(e)
    })?;
    Ok(Running { pid, pidfd, watch, outputs, input })
}

fn start(
    launch: &Launch,
    driven: Option<&[OwnedFd]>,
    common: &Common,
    tag: u64,
    stdio: [BorrowedFd<'_>; 3],
    terminal: Option<BorrowedFd<'_>>,
) -> Result<(i32, OwnedFd), SpawnError> {
    let argv: Vec<CString> = launch
        .arguments
        .iter()
        .map(|word| CString::new(word.as_str()))
        .collect::<Result<_, _>>()
        .map_err(|_| SpawnError::Nul)?;
    let name = || launch.arguments.first().cloned().unwrap_or_default();
    let path = if launch.program.is_script() {
        Some(launch.program.same_path().ok_or_else(|| SpawnError::NotExecutable(name()))?)
    } else {
        None
    };
    let lifted = Lifted::new(launch.program.file(), driven.unwrap_or_default())?;
    let file = lifted.program.as_ref().map_or(launch.program.file(), |file| file.as_fd());
    let image = path.as_deref().map_or(Image::Handle(file), Image::Path);
    let plan = Plan {
        image,
        argv: &argv,
        env: &launch.environment,
        stdio,
        handles: &lifted.handles,
        cwd: launch.directory.as_fd(),
        apart: if terminal.is_some() { Apart::Session } else { common.apart },
        terminal,
        tag: Some(tag),
        oom_score: common.oom_score.as_deref(),
        identity: common.identity,
        dies_with: driven.is_some().then(rustix::process::getpid),
    };
    match sys::start(&plan) {
        Ok(started) => {
            common.raise_oom_score(started.pid);
            Ok((started.pid, started.pidfd))
        }
        Err(e) => Err(match Errno::from_io_error(&e) {
            Some(Errno::TOOBIG) => SpawnError::TooLong,
            Some(
                Errno::ACCESS
                | Errno::NOEXEC
                | Errno::NOENT
                | Errno::PERM
                | Errno::LIBBAD
                | Errno::TXTBSY
                | Errno::INVAL,
            ) => SpawnError::NotExecutable(name()),
            _ => SpawnError::System(e),
        }),
    }
}

/// Copies with numbers that no handle takes in the child, so that making one there never overwrites another.
struct Lifted {
    /// Absent where there are no handles, and so nothing to be overwritten by.
    program: Option<OwnedFd>,
    handles: Vec<OwnedFd>,
}

impl Lifted {
    fn new(program: BorrowedFd<'_>, handles: &[OwnedFd]) -> Result<Self, SpawnError> {
        if handles.is_empty() {
            return Ok(Self { program: None, handles: Vec::new() });
        }
        let floor = 3 + i32::try_from(handles.len()).unwrap_or(i32::MAX);
        let lift = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, floor).map_err(system);
        let copies = handles.iter().map(|handle| lift(handle.as_fd())).collect::<Result<_, _>>()?;
        Ok(Self { program: Some(lift(program)?), handles: copies })
    }
}

fn system(errno: Errno) -> SpawnError {
    SpawnError::System(errno.into())
}
