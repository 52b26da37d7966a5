//! Sessions: one conversation with an agent, bound to a directory, a permission policy and a durable log.
//!
//! | module | |
//! |---|---|
//! | `state` | what state follows from what is so |
//! | `budget` | what may be used up |
//! | `digest` | the story so far, for an agent without a memory of it |

pub mod budget;
pub mod digest;
pub mod state;
