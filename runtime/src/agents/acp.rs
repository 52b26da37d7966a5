//! The wire of the Agent Client Protocol: JSON-RPC 2.0, one message a line, both sides asking.
//!
//! Nothing here knows what a method means. Values stay untyped JSON, because real agents send members and methods that
//! no list has; what is unknown is handed on and never a fault. Knows nothing of processes either: whoever opens a
//! [`Peer`] feeds it lines and takes away frames.
//!
//! | module | |
//! |---|---|
//! | `lines` | bytes into lines, bounded |
//! | `message` | a line into a message, and back |
//! | `peer` | requests both ways, their ids, their ends |
//! | `wait` | how long an answer is waited for |
//! | `inbox` | who is told what the other side says |

mod inbox;
mod lines;
mod message;
mod peer;
mod wait;

pub use inbox::{Asked, Ended, Inbox, Noise, Stranger, Witness};
pub use lines::{Line, Lines, MAX_LINE};
pub use message::{Message, RpcFault, code};
pub use peer::{Outbox, Peer, Pending, RpcError};
pub use wait::Wait;
