//! Standing decisions about tool calls: what an agent may do without asking a person, and what it may never do.
//!
//! The order is fixed: a `reject` rule, then what the session's policy rejects; then an `ask` rule; then what the policy
//! or an `allow` rule allows; a person is asked where nothing has spoken. An `allow` is always given to the agent for
//! this one call, so that a deleted rule takes effect on the next.
//!
//! | module | |
//! |---|---|
//! | `subject` | what a rule can know of a tool call |
//! | `shell` | whether shell text is one plain command |
//! | `matching` | one rule against one call |
//! | `policy` | what a session decides by itself |
//! | `verdict` | all rules and the policy against one call |
//! | `rows` | the rules in the store |

pub mod matching;
pub mod policy;
pub mod rows;
pub mod shell;
pub mod subject;
pub mod verdict;

pub use matching::{Decision, Match, Rule, Scope};
pub use policy::{OnTimeout, PermissionPolicy, Posture};
pub use subject::Subject;
pub use verdict::{Verdict, judge};
