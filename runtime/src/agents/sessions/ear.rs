//! What an agent says to a session, on its way to the task that serves the session: in order, and bounded.

use super::actor::Mailbox;
use super::speech;
use crate::agents::acp::{Asked, Ended, Inbox, Noise, RpcFault};
use crate::agents::credentials::Masks;
use crate::agents::weight::weight;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Bytes of notifications that may wait: an agent that says more is not read until there is room.
const ROOM: u32 = 2 << 20;

/// What a notification takes beside its parameters.
const FRAME: usize = 256;

/// The answer to a request of the agent.
pub(super) type Reply = oneshot::Sender<Result<Value, RpcFault>>;

/// Something that was said.
#[derive(Debug)]
pub(super) struct Frame {
    /// By which of the processes that a session has over time.
    pub(super) generation: u64,
    pub(super) said: Said,
}

#[derive(Debug)]
pub(super) enum Said {
    /// A notification.
    Told { method: String, params: Value, _room: Option<OwnedSemaphorePermit> },
    /// What is no message.
    Printed { process_id: String, noise: Noise },
    /// A request, with a number of our own.
    Asked { number: u64, asked: Asked, reply: Reply },
    /// Nothing more comes.
    Closed(Ended),
}

/// The listener that a session attaches to a process. What it hands on has no known secret in it, but in the text of
/// messages: that comes in pieces.
#[derive(Debug)]
pub(super) struct Ear {
    masks: Arc<Masks>,
    frames: mpsc::UnboundedSender<Frame>,
    room: Arc<Semaphore>,
    generation: u64,
    mailbox: Mailbox,
    asked: AtomicU64,
}

/// Tells the session when the agent takes back what it has asked.
struct TakenBack {
    mailbox: Mailbox,
    generation: u64,
    number: u64,
    armed: bool,
}

impl Drop for TakenBack {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (generation, number) = (self.generation, self.number);
        self.mailbox.send(move |actor| Box::pin(actor.taken_back(generation, number)));
    }
}

impl Ear {
    pub(super) fn new(
        frames: mpsc::UnboundedSender<Frame>,
        generation: u64,
        mailbox: Mailbox,
        masks: Arc<Masks>,
    ) -> Self {
        let room = Arc::new(Semaphore::new(ROOM as usize));
        Self { masks, frames, room, generation, mailbox, asked: AtomicU64::new(0) }
    }

    fn send(&self, said: Said) {
        // A session that is gone hears nothing more.
        let _ = self.frames.send(Frame { generation: self.generation, said });
    }
}

impl Inbox for Ear {
    fn notification<'a>(&'a self, method: &'a str, mut params: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            speech::mask(&self.masks, &mut params);
            // One that is larger than all of the room waits until it is alone.
            let bytes = u32::try_from(FRAME + weight(&params)).unwrap_or(ROOM).min(ROOM);
            // Never closed; without a permit it would be taken all the same.
            let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.ok();
            self.send(Said::Told { method: method.to_owned(), params, _room: room });
        })
    }

    fn request(&self, mut asked: Asked) -> BoxFuture<'static, Result<Value, RpcFault>> {
        // Files and terminals get what the agent says, to the letter.
        if matches!(asked.method.as_str(), "session/request_permission" | "elicitation/create") {
            self.masks.mask_json(&mut asked.params);
        }
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        self.send(Said::Asked { number, asked, reply });
        let (mailbox, generation) = (self.mailbox.clone(), self.generation);
        let guard = TakenBack { mailbox, generation, number, armed: true };
        Box::pin(async move {
            // All of it moves in here, not its members.
            let mut guard = guard;
            let answer = answer.await;
            guard.armed = false;
            answer.unwrap_or_else(|_| Err(RpcFault::cancelled()))
        })
    }

    fn noise(&self, process_id: &str, noise: &Noise) {
        self.send(Said::Printed { process_id: process_id.to_owned(), noise: noise.clone() });
    }

    fn closed<'a>(&'a self, ended: &'a Ended) -> BoxFuture<'a, ()> {
        self.send(Said::Closed(ended.clone()));
        Box::pin(std::future::ready(()))
    }
}
