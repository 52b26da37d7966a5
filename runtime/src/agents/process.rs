//! Agent processes: started on the engine of all children, spoken to over a wire, watched, and ended with all beneath.
//!
//! A [`Recipe`] and the rules of the call become a process ([`Processes::start`]); the handshake is done before anybody
//! else may speak. A session then attaches to the process under the agent's own name for it, and is told what concerns
//! it and how the process ended.
//!
//! | module | |
//! |---|---|
//! | `recipe` | what is to run, and by whose rules it is judged |
//! | `table` | all of them: how many there may be, who is where, how they start |
//! | `agent` | one process as its callers see it |
//! | `carry` | the tasks that move lines between its pipes and its wire |
//! | `noise` | how much of what is no message its sessions are told |
//! | `router` | which session a message belongs to; what came before its session is known |
//! | `handshake` | what the agent said of itself |
//! | `logs` | what it printed, in a ring file |
//! | `error` | why none runs |

mod agent;
mod carry;
mod error;
mod handshake;
mod logs;
mod noise;
mod recipe;
mod router;
mod table;

pub use agent::{AgentProcess, Phase, Stopped};
pub use error::{StartError, no_answer, place_refused, unknown_agent};
pub use handshake::Handshake;
pub use logs::{LogLine, LogPage, LogSource, Logs};
pub use recipe::{HANDSHAKE_PATIENCE, Judge, Recipe, StartFor, Workplace};
pub use table::{MAX_PROCESSES, Processes, Shown};
