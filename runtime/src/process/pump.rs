//! The task behind every job: moves output into the log, watches the clock, and reports the end once it is complete.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::BytesMut;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::io::AsyncReadExt as _;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};

use super::exit::{Exit, Reason};
use super::forward::{Forward, Tap};
use super::job::Job;
use super::ring::Stream;
use super::terminal::Terminal;
use super::{ending, sys};

/// How long after the leader's end its output is still waited for. What it wrote before is read in any case; this
/// is for what a child of it is just writing.
const LINGER: Duration = Duration::from_millis(200);

/// Most bytes taken at once.
const READ: usize = 64 * 1024;

/// From this share of a read on, the buffer itself is handed over instead of a copy.
const HAND_OVER: usize = READ / 4;

/// The reading end of an output.
#[derive(Debug)]
pub(super) enum Source {
    Pipe(pipe::Receiver),
    Terminal(Terminal),
}

impl Source {
    /// Reads once, about `most` bytes at most.
    async fn read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => {
                buffer.reserve(most);
                pipe.read_buf(buffer).await
            }
            Self::Terminal(terminal) => terminal.read(buffer, most).await,
        }
    }
}

/// One output of the job.
struct Lane {
    stream: Stream,
    source: Option<Source>,
    buffer: BytesMut,
    /// Bytes that the leader had written when it ended and that are still to be read, whatever the clock says.
    owed: usize,
    /// Where it goes beside the log.
    tap: Option<Tap>,
}

impl Lane {
    fn new(stream: Stream, source: Option<Source>, tap: Option<Tap>) -> Self {
        Self { stream, source, buffer: BytesMut::new(), owed: 0, tap }
    }

    /// Reads once. Pending for ever when there is nothing to read from.
    async fn read(&mut self, room: usize) -> io::Result<usize> {
        match &mut self.source {
            Some(source) if room > 0 => source.read(&mut self.buffer, READ.min(room)).await,
            _ => std::future::pending().await,
        }
    }

    /// Takes note of what was read; tells whether it was a flood. An error is the end: a terminal reports it so.
    fn took(&mut self, job: &Job, read: io::Result<usize>) -> bool {
        match read {
            Ok(bytes) if bytes > 0 => {
                self.owed = self.owed.saturating_sub(bytes);
                let data = if bytes >= HAND_OVER {
                    self.buffer.split().freeze()
                } else {
                    let copy = bytes::Bytes::copy_from_slice(&self.buffer);
                    self.buffer.clear();
                    copy
                };
                if let Some(tap) = &mut self.tap {
                    tap.take(&data);
                }
                job.log().push(self.stream, data);
                job.touch();
                return bytes >= HAND_OVER;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            _ => {
                self.source = None;
                self.owed = 0;
            }
        }
        false
    }

    /// Counts what waits in the pipe.
    fn count_owed(&mut self) {
        self.owed = match &self.source {
            Some(Source::Pipe(pipe)) => sys::pending(pipe.as_fd()),
            // What a terminal's line discipline holds cannot be counted from here; the linger covers it.
            Some(Source::Terminal(_)) | None => 0,
        };
    }

    fn done(&self, lingered: bool) -> bool {
        self.source.is_none() || (lingered && self.owed == 0)
    }
}

/// Lets another thread go on here, while this one goes on with the reader that was woken: a task that wakes itself goes to
/// the end of the queue, where an idle thread is called to take it. What a key prints is too little to be worth that.
async fn part() {
    let mut parted = false;
    poll_fn(|context| {
        if std::mem::replace(&mut parted, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs a job to its end. `deadline`: when it is ended for taking too long. Outputs that an orphan still
/// holds go on being drained. What is forwarded ends with a line that says how the process did. `over`: called once, when
/// its status is known and all its output is in the log.
pub(super) async fn run(
    job: Arc<Job>,
    watch: AsyncFd<Arc<OwnedFd>>,
    outputs: [Option<Source>; 2],
    deadline: Option<Instant>,
    forward: Option<&Arc<Forward>>,
    over: impl FnOnce(),
) {
    let [out, err] = outputs;
    let tap = |stream| forward.map(|forward| Tap::new(Arc::clone(forward), job.pid, stream));
    let lane = |stream, source| Lane::new(stream, source, tap(stream));
    let (mut out, mut err) = (lane(Stream::Stdout, out), lane(Stream::Stderr, err));
    // One clock for the whole life: each new one would have to be entered among all that wait, and taken out again.
    let mut clock = pin!(sleep_until(deadline.unwrap_or_else(Instant::now)));
    let mut ending: Option<tokio::task::JoinHandle<()>> = None;
    let mut exited: Option<Instant> = None;
    loop {
        let lingered = exited.is_some_and(|at| at.elapsed() >= LINGER);
        let (out_room, err_room) = {
            let log = job.log();
            (log.room(Stream::Stdout), log.room(Stream::Stderr))
        };
        if exited.is_some() && ending.is_none() {
            // A command that was cut short does not wait for a reader who never comes.
            let cut = job.state().reason.is_some();
            let done = |lane: &Lane, room| lane.done(lingered) || (cut && room == 0);
            if done(&out, out_room) && done(&err, err_room) {
                break;
            }
        }
        let linger = exited.filter(|_| !lingered).map(|at| at + LINGER);
        // In this order, so that neither a flood of output holds up the clock, nor the coin decides which of two streams
        // that are both ready came first.
        tokio::select! {
            biased;
            () = job.stop.notified() => {
                if ending.is_none() {
                    ending = Some(tokio::spawn(ending::end(Arc::clone(&job))));
                }
            }
            () = finished(&mut ending) => ending = None,
            ready = watch.readable(), if exited.is_none() => {
                if let Ok(mut guard) = ready {
                    guard.clear_ready();
                }
                if reap(&job) {
                    exited = Some(Instant::now());
                    out.count_owed();
                    err.count_owed();
                }
            }
            () = clock.as_mut(), if deadline.is_some() && ending.is_none() && exited.is_none() => {
                job.end(Reason::Timeout);
            }
            () = job.room.notified(), if out_room == 0 || err_room == 0 => {}
            read = out.read(out_room) => if out.took(&job, read) { part().await },
            read = err.read(err_room) => if err.took(&job, read) { part().await },
            // Last, because it is seen above too, and mostly both ends are there before it is waited for.
            () = at(linger) => {}
        }
    }
    for tap in [&mut out, &mut err].into_iter().filter_map(|lane| lane.tap.as_mut()) {
        tap.finish();
    }
    over();
    if let (Some(forward), Some(exit)) = (forward, job.exit()) {
        forward.ended(job.pid, exit);
    }
    for lane in [out, err] {
        // A terminal is hung up instead, as when its window closes.
        if let Some(Source::Pipe(pipe)) = lane.source {
            tokio::spawn(drain(pipe));
        }
    }
    if let Some(input) = &job.input {
        input.discard().await;
    }
}

/// Waits for the leader and takes its status down, if it has ended. Its number is its own until here.
pub(super) fn reap(job: &Job) -> bool {
    let mut state = job.state();
    let Some(leader) = state.leader.clone() else { return true };
    let ended = waitid(WaitId::PidFd(leader.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    match ended {
        Ok(None) => return false,
        Ok(Some(status)) => state.exit = Some(Exit::from_status(&status, state.reason)),
        // Somebody else has waited for it, and its status is lost.
        Err(_) => {
            state.exit = Some(Exit { code: None, signal: None, core_dumped: false, reason: state.reason })
        }
    }
    state.leader = None;
    true
}

/// Reads and drops what an orphan still prints, so that it does not die of a closed pipe.
async fn drain(mut pipe: pipe::Receiver) {
    let mut buffer = BytesMut::with_capacity(4096);
    while let Ok(1..) = pipe.read_buf(&mut buffer).await {
        buffer.clear();
    }
}

/// Sleeps until then; for ever without a time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits for the task that ends the job; for ever without one.
async fn finished(ending: &mut Option<tokio::task::JoinHandle<()>>) {
    match ending {
        Some(task) => {
            let _ = task.await;
        }
        None => std::future::pending().await,
    }
}
