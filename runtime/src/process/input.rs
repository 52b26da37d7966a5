//! Standard input of a process, written by offset so that a caller who lost an answer may safely send again.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;

use super::terminal::Terminal;

/// How long one call waits for a process that does not read.
const PATIENCE: Duration = Duration::from_secs(5);

/// The writing end.
#[derive(Debug)]
pub(super) enum Writer {
    Pipe(pipe::Sender),
    Terminal(Terminal),
}

/// Why input was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The process was started without an input, it was closed, or the process has closed it.
    #[error("the input of the process is closed")]
    Closed,
    /// The offset lies beyond what has been taken so far.
    #[error("input so far ends at offset {taken}")]
    Gap {
        /// Bytes taken so far.
        taken: u64,
    },
}

/// The input and how far it has come.
#[derive(Debug)]
pub struct Input {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    writer: Option<Writer>,
    taken: u64,
}

impl Input {
    pub(super) fn new(writer: Writer) -> Self {
        Self { state: Mutex::new(State { writer: Some(writer), taken: 0 }) }
    }

    /// Writes bytes that begin at `offset` of the whole input (absent: at its end), leaving out those already taken.
    /// Waits up to five seconds for a process that does not read. Returns how many bytes have been taken in all: a
    /// number less than asked for means that the caller goes on from there.
    ///
    /// # Errors
    /// The input is closed, or `offset` lies beyond its end.
    pub async fn write(&self, offset: Option<u64>, data: &[u8]) -> Result<u64, InputError> {
        let mut state = self.state.lock().await;
        let offset = offset.unwrap_or(state.taken);
        let Some(skip) = state.taken.checked_sub(offset) else {
            return Err(InputError::Gap { taken: state.taken });
        };
        let data = data.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        let mut rest = data;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !rest.is_empty() {
            let Some(writer) = state.writer.as_mut() else { return Err(InputError::Closed) };
            let wrote = match tokio::time::timeout_at(deadline, writer.write(rest)).await {
                Err(_) => break,
                Ok(Ok(wrote)) if wrote > 0 => wrote,
                Ok(_) => {
                    state.writer = None;
                    return Err(InputError::Closed);
                }
            };
            state.taken += wrote as u64;
            rest = rest.get(wrote..).unwrap_or_default();
        }
        Ok(state.taken)
    }

    /// Gives the process its end of file. On a terminal this is the control character, once.
    ///
    /// # Errors
    /// The input is closed already and was never open to the caller.
    pub async fn close(&self) -> u64 {
        let mut state = self.state.lock().await;
        if let Some(Writer::Terminal(terminal)) = state.writer.as_mut() {
            let _ = tokio::time::timeout(PATIENCE, terminal.write(&[4])).await;
        } else {
            state.writer = None;
        }
        state.taken
    }

    /// Drops the writing end; for a terminal this may hang it up.
    pub(super) async fn discard(&self) {
        self.state.lock().await.writer = None;
    }

    /// The group in the foreground of a terminal.
    pub(super) async fn foreground(&self) -> Option<rustix::process::Pid> {
        match self.state.lock().await.writer.as_ref() {
            Some(Writer::Terminal(terminal)) => terminal.foreground(),
            _ => None,
        }
    }

    /// Sets the size of a terminal. Nothing happens to a pipe.
    pub(super) async fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        match self.state.lock().await.writer.as_ref() {
            Some(Writer::Terminal(terminal)) => terminal.resize(columns, rows),
            _ => Ok(()),
        }
    }
}

impl Writer {
    async fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.write(data).await,
            Self::Terminal(terminal) => terminal.write(data).await,
        }
    }
}
