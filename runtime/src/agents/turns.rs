//! Turns: one prompt and all that follows until the agent stops. One runs a session; the rest wait in its queue.
//!
//! | module | |
//! |---|---|
//! | `prompt` | what a caller wants said |
//! | `queue` | which turn is next |

pub mod prompt;
pub mod queue;
