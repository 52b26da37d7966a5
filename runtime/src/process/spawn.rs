//! Starts a process: the one place from which any child of the server comes.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncWriteExt as _;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use super::apart::Apart;
use super::input::{Input, Writer};
use super::launch::{Launch, Screen, SpawnError, Stdin};
use super::pump::Source;
use super::sys::{self, Identity, Image, Plan};
use super::terminal::Terminal;

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
