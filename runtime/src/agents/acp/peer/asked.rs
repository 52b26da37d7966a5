//! Requests of the other side: each is answered once, by whoever listens, by being cancelled, or not at all where the other
//! side has ended.

use super::super::inbox::Asked;
use super::super::message::{self, RpcFault, code};
use super::{Peer, RpcError};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Requests of the other side that may be open at once.
pub(super) const MAX_ASKED: usize = 1024;

impl Peer {
    pub(super) fn asked(self: &Arc<Self>, asked: Asked) {
        let id = asked.id.clone();
        let cancelled = CancellationToken::new();
        {
            let mut state = self.state();
            if state.asked.len() >= MAX_ASKED {
                drop(state);
                return self.reply(&id, &Err(RpcFault::new(code::INTERNAL, "Too many open requests")));
            }
            state.asked.push((id.clone(), cancelled.clone()));
        }
        let answer = self.inbox.request(asked);
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                () = peer.closed.cancelled() => return,
                () = cancelled.cancelled() => Err(RpcFault::cancelled()),
                outcome = answer => outcome,
            };
            let open = {
                let mut state = peer.state();
                let place = state.asked.iter().position(|(open, _)| *open == id);
                place.map(|place| state.asked.swap_remove(place)).is_some()
            };
            // Cleared when the peer closed: then there is nobody to answer.
            if open {
                peer.reply(&id, &outcome);
            }
        });
    }

    pub(super) fn cancelled(&self, id: &Value) {
        if let Some((_, token)) = self.state().asked.iter().find(|(open, _)| open == id) {
            token.cancel();
        }
    }

    pub(super) fn reply(&self, id: &Value, outcome: &Result<Value, RpcFault>) {
        let fault = || Err(RpcFault::new(code::INTERNAL, "The answer is too large"));
        if self.send(message::answer(id, outcome)) == Err(RpcError::TooLarge) {
            let _ = self.send(message::answer(id, &fault()));
        }
    }
}
