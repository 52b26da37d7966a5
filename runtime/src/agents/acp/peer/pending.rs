//! A request of ours that is open, and what may come of it.

use super::super::message::RpcFault;
use super::super::wait::Wait;
use super::Peer;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RpcError {
    /// The other side says so.
    #[error("{0}")]
    Fault(RpcFault),
    /// It has not answered in time. The request counts as given up.
    #[error("the agent did not answer in time")]
    Timeout,
    /// It has ended.
    #[error("the agent has ended")]
    Closed,
    /// The request is longer than a line may be, or too much waits to be sent already.
    #[error("the request is too large")]
    TooLarge,
}

/// A request that has been sent. Dropped, its answer is not waited for any more.
pub struct Pending {
    pub(super) peer: Arc<Peer>,
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<Result<Value, RpcFault>>,
}

impl Pending {
    /// Our id of the request.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Asks the other side to give the request up; its answer still comes, or does not.
    pub fn cancel(&self) {
        let _ = self.peer.notify("$/cancel_request", &json!({"requestId": self.id}));
    }

    /// Waits for the answer. May be called again after a timeout that is not meant as the end.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub async fn wait(&mut self, wait: Wait) -> Result<Value, RpcError> {
        let over = wait.over(self.peer.heard.subscribe());
        tokio::select! {
            biased;
            answer = &mut self.answer => match answer {
                Ok(outcome) => outcome.map_err(RpcError::Fault),
                Err(_) => Err(RpcError::Closed),
            },
            () = over => Err(RpcError::Timeout),
        }
    }

    /// Waits for the answer, and cancels what is not answered in time.
    ///
    /// # Errors
    /// See [`RpcError`].
    pub async fn answer(mut self, wait: Wait) -> Result<Value, RpcError> {
        let answer = self.wait(wait).await;
        if answer == Err(RpcError::Timeout) {
            self.cancel();
        }
        answer
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.peer.state().pending.remove(&self.id);
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("id", &self.id).finish_non_exhaustive()
    }
}
