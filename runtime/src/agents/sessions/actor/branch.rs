//! A branch that its agent does not know when it is first prompted: some agents name a branch, and open it only when they
//! are asked to go on with it. It is then taken up like any other conversation, and prompted once more.
//!
//! Nobody is asked to take up a conversation that is live: whether it is shows only when it is prompted.

use super::Actor;
use super::begin::Replay;
use super::ladder;
use crate::agents::acp::{RpcError, RpcFault, code};
use crate::agents::turns;
use serde_json::{Map, Value};

/// What a branch is taken up with, for as long as nobody knows whether it is live.
pub(super) type Unproven = Map<String, Value>;

impl Actor {
    /// Takes the branch up where this is its first prompt, and the agent says that there is no such conversation. False
    /// where there is nothing to be done about the fault.
    pub(super) fn take_up_branch(&mut self, turn_id: &str, fault: &RpcFault) -> bool {
        let unknown = matches!(fault.code, code::NOT_FOUND | code::INTERNAL | code::INVALID_PARAMS);
        let Some(params) = self.unproven.take().filter(|_| unknown) else { return false };
        let Some(process) = self.process.clone() else { return false };
        let can = |what: &&str| process.handshake().is_some_and(|handshake| handshake.can(what));
        let Some(rung) = ["resume", "load"].into_iter().find(can) else { return false };
        if let Some(running) = &mut self.running {
            running.request = None;
        }
        // What it repeats is what the parent has in its log.
        self.replay = Replay::Counted(0);
        let (mailbox, turn_id, fault) = (self.mailbox.clone(), turn_id.to_owned(), fault.clone());
        tokio::spawn(async move {
            let method = format!("session/{rung}");
            let answer = ladder::request(&process.peer, &method, params).await;
            mailbox.send(move |actor| Box::pin(actor.took_up(turn_id, answer, fault)));
        });
        true
    }

    async fn took_up(&mut self, turn_id: String, answer: Result<Value, RpcError>, fault: RpcFault) {
        self.speak_out().await;
        self.replay = Replay::None;
        let Some(running) = self.running.as_ref().filter(|running| running.row.turn_id == turn_id) else {
            return;
        };
        if let Some(reason) = running.cancelled {
            return self.end_turn(turns::CANCELLED, Some(reason), None, None).await;
        }
        match answer {
            Ok(answer) => {
                self.options.opened(&answer);
                self.prompt_agent(turn_id).await;
            }
            Err(RpcError::Closed) if self.process.is_some() => {}
            // What it said at first says more.
            Err(_) => self.answered(turn_id, Err(RpcError::Fault(fault))).await,
        }
    }
}
