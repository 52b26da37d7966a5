//! A streamed body: counts what is sent, keeps the slot taken until its end, and writes the line then.

use super::Record;
use super::overdue::Overdue;
use crate::audit::Event;
use crate::engine::Slot;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body and what ends with it.
pub(super) struct Metered {
    body: Body,
    status: u16,
    sent: u64,
    /// The length that was announced, where one was.
    announced: Option<u64>,
    record: Record,
    /// Given back at its end, before the client can have seen that, or when the client has gone.
    slot: Option<Slot>,
    /// Sees to it that a client that takes nothing does not keep the slot for ever.
    overdue: Option<Overdue>,
}

impl Metered {
    pub(super) fn new(body: Body, status: u16, announced: Option<u64>, record: Record, slot: Slot) -> Self {
        let overdue = record.deadline().map(|deadline| Overdue::watch(deadline, record.busy.cut()));
        Self { body, status, sent: 0, announced, record, slot: Some(slot), overdue }
    }

    fn is_whole(&self) -> bool {
        self.body.is_end_stream()
            || self.body.size_hint().exact() == Some(0)
            || self.announced == Some(self.sent)
    }

    /// Frees the slot and writes the line; once.
    fn end(&mut self, event: Event) {
        self.slot = None;
        self.overdue = None;
        self.record.end(event, self.status, None, self.sent);
    }
}

impl HttpBody for Metered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(overdue) = &self.overdue {
            overdue.progress();
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                self.sent += frame.data_ref().map_or(0, |data| data.len() as u64);
                // With a known length the end is never polled, and its last byte may go out before the body is dropped.
                if self.is_whole() {
                    self.end(Event::Call);
                }
            }
            Some(Err(_)) => self.end(Event::Cut),
            None => self.end(Event::Call),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.end(if self.is_whole() { Event::Call } else { Event::Cut });
    }
}
