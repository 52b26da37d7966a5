//! What agents ask people: leave for a tool call, and questions. Every request gets exactly one answer: by a rule, by a
//! person, by expiry, by a cancelled turn, or by the end of the agent.
//!
//! | module | |
//! |---|---|
//! | `rows` | requests in the store |
//! | `answer` | a decision as one of the agent's options |
//! | `form` | whether an answer fits a form |

pub mod answer;
pub mod form;
pub mod rows;
