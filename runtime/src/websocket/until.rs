//! What ends a socket from the server's side, whatever it carries.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Close;

/// Comes about when the socket must be closed, and says how.
pub(crate) struct Until(Pin<Box<dyn Future<Output = Close> + Send>>);

impl Until {
    /// The server stops, the socket has been open for `longest`, or its caller may call no more.
    pub(crate) fn new(
        stopping: CancellationToken,
        longest: Duration,
        withdrawn: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self(Box::pin(async move {
            tokio::select! {
                () = stopping.cancelled() => (1001, "the server is stopping"),
                () = tokio::time::sleep(longest) => (1008, "the socket was open for too long"),
                () = withdrawn => (1008, "the token is no longer accepted"),
            }
        }))
    }
}

impl Future for Until {
    type Output = Close;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Close> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Until")
    }
}
