//! Work for a session's task, and the way to it.

use super::Actor;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

/// Something to be done by a session's task.
pub type Work = Box<dyn for<'a> FnOnce(&'a mut Actor) -> BoxFuture<'a, ()> + Send>;

/// The way to a session's task for what it has spawned itself; keeps nothing alive.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox(pub(super) mpsc::WeakUnboundedSender<Work>);

impl Mailbox {
    /// Has work done; forgotten where the task has ended.
    pub(crate) fn send(
        &self,
        work: impl for<'a> FnOnce(&'a mut Actor) -> BoxFuture<'a, ()> + Send + 'static,
    ) {
        if let Some(sender) = self.0.upgrade() {
            // Ended meanwhile.
            let _ = sender.send(Box::new(work));
        }
    }
}
