//! Exit statuses: the same for every command and every format.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, nothing found.
    Success,
    /// 1: findings; the server did not start; not healthy.
    Failure,
    /// 2: the command line itself is wrong.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
        })
    }
}
