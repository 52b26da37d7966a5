//! Input on its way from the client to the command: a queue that is bounded in bytes, so that a command that does not
//! read holds up its client and nobody's memory. What was accepted is written even if the client goes away.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::MAX_MESSAGE;
use crate::process::Job;

/// Frames that may wait, whatever their size.
const FRAMES: usize = 1024;

enum Piece {
    Bytes(String, OwnedSemaphorePermit),
    End,
}

/// The client's end of the queue.
pub(super) struct Feed {
    pieces: mpsc::Sender<Piece>,
    room: Arc<Semaphore>,
}

impl Feed {
    pub(super) fn to(job: &Arc<Job>) -> Self {
        let (pieces, queue) = mpsc::channel(FRAMES);
        tokio::spawn(write(Arc::clone(job), queue));
        Self { pieces, room: Arc::new(Semaphore::new(MAX_MESSAGE)) }
    }

    /// Waits for room. What a command with a closed input is sent is dropped.
    pub(super) async fn input(&self, data: String) {
        let size = u32::try_from(data.len().min(MAX_MESSAGE)).unwrap_or(u32::MAX);
        // Never closed.
        if let Ok(permit) = Arc::clone(&self.room).acquire_many_owned(size).await {
            let _ = self.pieces.send(Piece::Bytes(data, permit)).await;
        }
    }

    pub(super) async fn end(&self) {
        let _ = self.pieces.send(Piece::End).await;
    }
}

/// Writes what comes until nobody sends any more, or the command takes no more.
async fn write(job: Arc<Job>, mut queue: mpsc::Receiver<Piece>) {
    let Some(input) = &job.input else { return };
    let writing = async {
        while let Some(piece) = queue.recv().await {
            match piece {
                Piece::End => {
                    input.close().await;
                }
                Piece::Bytes(data, _room) => {
                    // Where this piece begins in the whole input.
                    let Ok(begin) = input.write(None, &[]).await else { return };
                    let end = begin + data.len() as u64;
                    while input.write(Some(begin), data.as_bytes()).await.is_ok_and(|taken| taken < end) {}
                }
            }
        }
    };
    tokio::select! {
        () = writing => {}
        _ = job.ended() => {}
    }
}
