//! Bytes between a WebSocket and TCP connections to loopback ports.
//!
//! | module | |
//! |---|---|
//! | `raw` | one socket, one port |
//! | `streams` | one socket, many streams, each to a port that its first bytes name |
//! | `outgoing` | what they say, gathered into messages |
//! | `rounds` | when their task gives way |

mod outgoing;
mod raw;
mod rounds;
mod streams;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::endpoint::Note;
use crate::websocket::{Close, Until};

pub use raw::serve as raw;
pub use streams::serve as streams;

/// Largest message of a client, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// How long a port may take to accept.
pub const DIAL: Duration = Duration::from_secs(5);

/// What holds for a tunnel.
#[derive(Debug)]
pub struct Terms {
    /// Bytes that may pass, both ways together.
    pub most: u64,
    /// What else ends it.
    pub(crate) until: Until,
    /// Where its bytes are counted.
    pub note: Note,
}

/// The bytes that may still pass.
#[derive(Debug)]
struct Budget {
    left: AtomicU64,
    spent: CancellationToken,
    note: Note,
}

impl Budget {
    fn new(most: u64, note: Note) -> Self {
        Self { left: AtomicU64::new(most), spent: CancellationToken::new(), note }
    }

    /// Takes from the budget: bytes from the client and bytes for it. False, for good, where it does not suffice.
    fn pass(&self, from: usize, to: usize) -> bool {
        let (from, to) = (from as u64, to as u64);
        let take = |left: u64| left.checked_sub(from + to);
        let passes = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if passes {
            self.note.carried(from, to);
        } else {
            self.spent.cancel();
        }
        passes
    }
}

const ENDED: Close = (1000, "");
const UNSUPPORTED: Close = (1003, "only binary frames are understood");
const SPENT: Close = (1008, "as many bytes as may have passed");
