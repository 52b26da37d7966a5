//! The process engine: whatever the server starts, it starts here. Knows nothing of HTTP or policy.
//!
//! A command line becomes words ([`words`]), the first word becomes an open file ([`Programs`]), the caller judges
//! that file, and [`Engine::spawn`] executes the very file that was judged. From then on a task moves the output into
//! a bounded log ([`ring`]) until the process and its output have ended. A [`Job`] is the handle to all that.
//!
//! | module | |
//! |---|---|
//! | `words` | a command line into words, as Python does it |
//! | `programs` | a name into an open file |
//! | `environment` | what variables a child gets |
//! | `launch` | what a process is started with |
//! | `spawn` | pipes or terminal, then the start; `sys` holds the raw calls |
//! | `terminal` | the server's end of a terminal |
//! | `apart` | what sets a child apart from the server |
//! | `job` | one process as its callers see it; `input` its standard input |
//! | `ring` | its output, by byte offset |
//! | `pump` | the task that serves it until its end |
//! | `ended` | what is left of one that was waited for |
//! | `ending` | SIGTERM, two seconds, SIGKILL; `tree` finds descendants wherever they are |
//! | `registry` | all of them: owners, bounds, shutdown, orphans; `reap` waits for what was left |
//! | `users` | whom children run as |
//! | `forward` | background output into the server's log |
//! | `masking` | a command for display |
//! | `tool` | a program of the server's own choosing, run to its end |
//! | `resumable` | commands that a caller comes back to by an id; `text` counts their output as text |
//! | `signals`, `exit` | names and numbers |

mod apart;
mod ended;
mod ending;
pub mod environment;
mod exit;
mod forward;
mod input;
mod job;
mod launch;
pub mod masking;
mod programs;
mod pump;
mod reap;
mod registry;
pub mod resumable;
pub mod ring;
pub mod signals;
mod spawn;
mod sys;
mod terminal;
pub mod text;
mod tool;
mod tree;
mod users;
pub mod words;

pub use ended::{Ended, Printed};
pub use environment::{Environment, VariableError};
pub use exit::{Exit, Reason};
pub use forward::Forward;
pub use input::{Input, InputError};
pub use job::{EndOnDrop, Job, Kind, Owner, Progress};
pub use launch::{Launch, Screen, SpawnError, Stdin};
pub use programs::{FindError, Program, Programs};
pub use registry::{Engine, MAX_PROCESSES, MAX_TERMINALS, Orphan, Setup};
pub use ring::{Cursor, Full, Segment, Stream};
pub use sys::Identity;
pub use tool::{Tool, ToolError};
pub use users::{User, UserError};
