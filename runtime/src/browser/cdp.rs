//! The DevTools protocol over a pair of pipes: commands out, answers and events in. No port is opened.
//!
//! A message is JSON and ends in NUL. [`Connection::call`] waits for the answer, [`Connection::tell`] does not. Events
//! are handed to the [`Listener`] of their session by the task that reads: a listener must not block, and while it works
//! the pipe fills and the browser waits, so that a flood of events is never stored anywhere.

mod message;

pub(super) use message::{Property, Remote};

use bytes::BytesMut;
use message::Incoming;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Longest message that is taken. Pictures of large pages come as one; a script's value must not fill the memory.
const LONGEST: usize = 192 << 20;

/// Bytes asked of the pipe at once.
const READ: usize = 256 * 1024;

/// A session's name; the browser's own has none.
pub(super) type Session = Arc<str>;

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum CdpError {
    /// The browser has ended, or what it says cannot be read.
    #[error("the browser has ended")]
    Closed,
    /// The session has ended: the page crashed or was closed.
    #[error("the page has ended")]
    Gone,
    /// The browser refuses the command.
    #[error("{0}")]
    Refused(String),
    /// The answer has another shape than it should.
    #[error("an answer of the browser cannot be read")]
    Shape,
}

/// What takes the events of one session.
pub(super) trait Listener: Send + Sync {
    /// One event. Must return at once.
    fn event(
        self: Arc<Self>,
        connection: &Arc<Connection>,
        session: Option<&str>,
        method: &str,
        params: &RawValue,
    );
}

/// The two ends of the child, its descriptors 3 and 4, and the connection over the other ends.
pub(super) struct Pipes {
    pub(super) child: [OwnedFd; 2],
    ours: (pipe::Sender, pipe::Receiver),
}

impl Pipes {
    /// A new pair of pipes.
    pub(super) fn new() -> io::Result<Self> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (commands, to_child) = rustix::pipe::pipe_with(flags)?;
        let (answers, from_child) = rustix::pipe::pipe_with(flags)?;
        let ours = (pipe::Sender::from_owned_fd(to_child)?, pipe::Receiver::from_owned_fd(answers)?);
        Ok(Self { child: [commands, from_child], ours })
    }

    /// The connection. The child's ends are dropped: it has its own by now.
    pub(super) fn connect(self, listener: Arc<dyn Listener>) -> Arc<Connection> {
        let (sender, receiver) = self.ours;
        let (outgoing, commands) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection {
            outgoing,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            listeners: Mutex::default(),
            root: listener,
            closed: CancellationToken::new(),
        });
        tokio::spawn(write(sender, commands, connection.closed.clone()));
        let reading = Arc::clone(&connection);
        tokio::spawn(async move {
            reading.read(receiver).await;
            reading.close();
        });
        connection
    }
}

type Answered = oneshot::Sender<Result<Box<RawValue>, CdpError>>;

/// A connection to a browser.
pub(super) struct Connection {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    next: AtomicU64,
    /// Who waits for which answer, and in which session.
    waiting: Mutex<HashMap<u64, (Option<Session>, Answered)>>,
    listeners: Mutex<HashMap<Session, Arc<dyn Listener>>>,
    root: Arc<dyn Listener>,
    closed: CancellationToken,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("closed", &self.closed.is_cancelled()).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Command<'a, P> {
    id: u64,
    method: &'a str,
    params: &'a P,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

/// Forgets who waits when the wait is given up.
struct Wait<'a>(&'a Connection, u64);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.0.waiting().remove(&self.1);
    }
}

impl Connection {
    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub(super) async fn call<R: DeserializeOwned>(
        &self,
        session: Option<&Session>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R, CdpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.waiting().insert(id, (session.cloned(), answered));
        let _wait = Wait(self, id);
        self.send(id, session, method, params)?;
        let answer = answer.await.map_err(|_| CdpError::Closed)??;
        serde_json::from_str(answer.get()).map_err(|_| CdpError::Shape)
    }

    /// Sends a command whose answer nobody needs. Commands of one session are obeyed in order.
    pub(super) fn tell(&self, session: Option<&str>, method: &str, params: &impl Serialize) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // A browser that has ended is noticed by whoever waits for it.
        let _ = self.send(id, session, method, params);
    }

    fn send(
        &self,
        id: u64,
        session: Option<impl AsRef<str>>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<(), CdpError> {
        let session = session.as_ref().map(AsRef::as_ref);
        let mut text =
            serde_json::to_vec(&Command { id, method, params, session }).map_err(|_| CdpError::Shape)?;
        text.push(0);
        // After this check a close still finds the one who waits; before it there would be nobody to find.
        if self.closed.is_cancelled() {
            return Err(CdpError::Closed);
        }
        self.outgoing.send(text).map_err(|_| CdpError::Closed)
    }

    /// Hands the events of a session to `listener`.
    pub(super) fn listen(&self, session: Session, listener: Arc<dyn Listener>) {
        self.listeners().insert(session, listener);
    }

    /// The session is over: whoever waits for an answer in it hears so.
    pub(super) fn forget(&self, session: &str) {
        self.listeners().remove(session);
        self.abandon(session);
    }

    /// Who listens to a session.
    pub(super) fn listener(&self, session: &str) -> Option<Arc<dyn Listener>> {
        self.listeners().get(session).cloned()
    }

    /// No answer will come in that session any more.
    pub(super) fn abandon(&self, session: &str) {
        let ours = |_: &u64, (of, _): &mut (Option<Session>, Answered)| of.as_deref() == Some(session);
        let gone: Vec<_> = self.waiting().extract_if(ours).collect();
        for (_, (_, answered)) in gone {
            // Whoever gave up waiting needs no word.
            let _ = answered.send(Err(CdpError::Gone));
        }
    }

    /// Ends when the browser has.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Whether the browser has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Closes it: the browser ends by itself when its pipes do.
    pub(super) fn close(&self) {
        self.closed.cancel();
        self.waiting().clear();
        self.listeners().clear();
    }

    async fn read(self: &Arc<Self>, mut pipe: pipe::Receiver) {
        let (mut buffer, mut seen) = (BytesMut::with_capacity(READ), 0);
        loop {
            while let Some(end) = buffer.get(seen..).and_then(|new| memchr::memchr(0, new)) {
                let message = buffer.split_to(seen + end);
                let _nul = buffer.split_to(1);
                seen = 0;
                self.take(&message);
            }
            seen = buffer.len();
            if seen > LONGEST {
                return;
            }
            buffer.reserve(READ);
            let read = tokio::select! {
                read = pipe.read_buf(&mut buffer) => read,
                () = self.closed.cancelled() => return,
            };
            if !matches!(read, Ok(1..)) {
                return;
            }
        }
    }

    fn take(self: &Arc<Self>, message: &[u8]) {
        // What is no message of the protocol answers nothing and tells nothing.
        let Ok(message) = serde_json::from_slice::<Incoming<'_>>(message) else { return };
        if let Some(id) = message.id {
            if let Some((_, answered)) = self.waiting().remove(&id) {
                let _ = answered.send(message.outcome());
            }
        } else if let (Some(method), Some(params)) = (&message.method, message.params) {
            let listener = match &message.session {
                None => Some(Arc::clone(&self.root)),
                Some(session) => self.listeners().get(&**session).cloned(),
            };
            if let Some(listener) = listener {
                listener.event(self, message.session.as_deref(), method, params);
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, (Option<Session>, Answered)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<Session, Arc<dyn Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes commands whole, in order, until the browser or the server has enough.
async fn write(
    mut pipe: pipe::Sender,
    mut commands: mpsc::UnboundedReceiver<Vec<u8>>,
    closed: CancellationToken,
) {
    loop {
        let command = tokio::select! {
            command = commands.recv() => command,
            () = closed.cancelled() => None,
        };
        let Some(command) = command else { return };
        let wrote = tokio::select! {
            wrote = pipe.write_all(&command) => wrote,
            () = closed.cancelled() => return,
        };
        if wrote.is_err() {
            closed.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests;
