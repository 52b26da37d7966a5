//! What a multiplexer says, gathered until it has no more to say: many frames share one message.

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncWrite;

/// Bytes from which on nothing more is taken before a message has gone: one full frame. A client cannot use a message, and
/// open its window again, before all of it has come: two full frames in one would leave it idle for longer.
const ROOM: usize = 64 * 1024;

/// The writing end of a line, and the messages that it makes. Both ends belong to one task.
#[derive(Debug, Default)]
pub(super) struct Outgoing(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    bytes: BytesMut,
    /// Who waits for room.
    writer: Option<Waker>,
    /// Who waits for bytes.
    reader: Option<Waker>,
}

impl Outgoing {
    /// Everything that waits, once there is something.
    pub(super) async fn message(&self) -> Bytes {
        std::future::poll_fn(|context| {
            let mut gathered = self.lock();
            if gathered.bytes.is_empty() {
                gathered.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
            if let Some(writer) = gathered.writer.take() {
                writer.wake();
            }
            Poll::Ready(gathered.bytes.split().freeze())
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncWrite for &Outgoing {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let mut gathered = self.lock();
        if gathered.bytes.len() >= ROOM {
            gathered.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        gathered.bytes.extend_from_slice(data);
        if let Some(reader) = gathered.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Asked after every frame. A message goes as soon as there is something for it anyway.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use futures_util::task::noop_waker_ref;
    use tokio::io::AsyncWriteExt as _;

    #[test]
    fn frames_share_a_message_up_to_its_room() {
        let outgoing = Outgoing::default();
        let write = |data: &[u8]| (&outgoing).write(data).now_or_never().transpose().ok().flatten();
        assert_eq!(outgoing.message().now_or_never(), None);
        assert_eq!(write(b"head"), Some(4));
        assert_eq!(write(b"body"), Some(4));
        assert_eq!(outgoing.message().now_or_never(), Some(Bytes::from_static(b"headbody")));
        assert_eq!(write(b"head"), Some(4));
        assert_eq!(write(&[7; ROOM]), Some(ROOM));
        assert_eq!(write(b"more"), None);
        assert_eq!(outgoing.message().now_or_never().map(|message| message.len()), Some(ROOM + 4));
        assert_eq!(write(b"more"), Some(4));
    }

    #[test]
    fn who_waits_is_woken() {
        let outgoing = Outgoing::default();
        let mut context = Context::from_waker(noop_waker_ref());
        let mut message = Box::pin(outgoing.message());
        assert!(message.as_mut().poll(&mut context).is_pending());
        assert!(outgoing.lock().reader.is_some());
        let mut end = &outgoing;
        assert!(Pin::new(&mut end).poll_write(&mut context, &[7; ROOM]).is_ready());
        assert!(outgoing.lock().reader.is_none());
        assert!(Pin::new(&mut end).poll_write(&mut context, b"more").is_pending());
        assert!(outgoing.lock().writer.is_some());
        assert!(message.as_mut().poll(&mut context).is_ready());
        assert!(outgoing.lock().writer.is_none());
    }
}
