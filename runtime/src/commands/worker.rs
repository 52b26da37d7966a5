//! The worker: a Python process that has imported a template and calls its functions for the server.
//!
//! The template is imported twice: once at start by a process that only tells what it declares ([`mod@describe`]), before
//! there is a policy, and once by the worker itself. Both get the package that templates are written against from this
//! binary, over their standard input; no file is needed for it.
//!
//! A call costs a thread of the worker. One that outlives its time costs the worker too, for a thread cannot be ended:
//! calls go to a new worker at once, and the old one is ended when its other calls are done. A worker that dies is
//! replaced, ever more slowly while it dies soon; the calls that it was running fail, and no others.
//!
//! | module | |
//! |---|---|
//! | `target` | what is imported, and the sources that a worker starts with |
//! | `frame` | messages over pipes |
//! | `manifest` | what a template declares |
//! | `describe` | asks a template what it declares |
//! | `wire` | its process and its pipes |
//! | `event` | what it says about a call |
//! | `process` | one worker and the calls that it runs |
//! | `supervisor` | keeps one running |

mod describe;
mod event;
mod frame;
mod manifest;
mod process;
mod supervisor;
mod target;
mod wire;

pub(super) use frame::{encode, messages};

pub use describe::{DescribeError, describe};
pub use event::Event;
pub use manifest::{Manifest, ManifestError, RouteEntry, Switch};
pub use process::{Pending, WorkerError};
pub use supervisor::Workers;
pub use target::{Target, TargetError};
