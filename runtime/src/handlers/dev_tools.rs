//! DEV_TOOLS: snippets of code, and a look at git repositories through [`crate::git`]. Closed until a rule opens it.

mod looking;

pub(super) mod code_run;
pub(super) mod git_diff;
pub(super) mod git_status;
