//! Who is told what the other side of a wire says.

use super::message::RpcFault;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// A request of the other side.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its id, of any JSON type, unique among its open requests.
    pub id: Value,
    /// What for.
    pub method: String,
    /// `null` where there are none.
    pub params: Value,
}

/// How the other side came to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// The status it gave, where it gave one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// Whether this server ended it.
    pub stopped: bool,
}

/// What the other side printed that is no message: a line, or a number of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noise {
    /// The first of them, or its beginning.
    pub text: String,
    /// How many lines there were,
    pub lines: u64,
    /// and how many bytes, without their ends.
    pub bytes: u64,
    /// Whether `text` is not all of it.
    pub truncated: bool,
}

/// Whoever listens to a peer.
///
/// Everything is told in the order in which it was said, one at a time: the next line is not read before the last one
/// was taken. A listener that is slow therefore holds the other side up, and memory stays flat. What is done here must
/// never wait for an answer of the same peer, for that answer stands in a line behind.
pub trait Inbox: Send + Sync + 'static {
    /// The other side tells something.
    fn notification<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, ()>;

    /// The other side asks. Called in order; what it returns runs beside everything else and may take as long as a
    /// person does. It is dropped when the request is cancelled or the peer closes, and nobody is answered then but by
    /// `-32800`.
    fn request(&self, asked: Asked) -> BoxFuture<'static, Result<Value, RpcFault>>;

    /// The other side printed what is no message. Told seldom, and never waits.
    fn noise(&self, _process_id: &str, _noise: &Noise) {}

    /// The other side has ended; nothing more comes. Called once.
    fn closed<'a>(&'a self, ended: &'a Ended) -> BoxFuture<'a, ()>;
}

/// A listener that hears nothing and knows no method: for a handshake alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stranger;

impl Inbox for Stranger {
    fn notification<'a>(&'a self, _method: &'a str, _params: Value) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn request(&self, asked: Asked) -> BoxFuture<'static, Result<Value, RpcFault>> {
        Box::pin(std::future::ready(Err(RpcFault::no_method(&asked.method))))
    }

    fn closed<'a>(&'a self, _ended: &'a Ended) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Whoever keeps a record of the wire itself.
pub trait Witness: Send + Sync + 'static {
    /// A line that is no message, or a message that nobody waits for, and its bytes. `text` may be a word that stands
    /// for it.
    fn noise(&self, text: &str, bytes: u64);

    /// A message came.
    fn frame_in(&self, line: &[u8]);

    /// A message went.
    fn frame_out(&self, line: &[u8]);
}
