//! Exit statuses: the same for every command, in every format and under every flag.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// 0: done; nothing found at or above the fail level.
    Success = 0,
    /// 1: findings at or above the fail level, or a missed expectation; the server did not start; not healthy.
    Failure = 1,
    /// 2: the command line itself is wrong.
    Usage = 2,
    /// 3: a named input cannot be read, or the output cannot be written.
    Unreadable = 3,
    /// 4: access was widened.
    Widened = 4,
    /// 70: a fault of this program.
    Internal = 70,
}

impl Exit {
    /// The graver of two.
    #[must_use]
    pub const fn worse(self, other: Self) -> Self {
        if other.code() > self.code() { other } else { self }
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The verdict as reports print it.
    #[must_use]
    pub const fn verdict(self) -> &'static str {
        match self {
            Self::Success => "clean",
            Self::Failure => "findings",
            Self::Usage => "usage",
            Self::Unreadable => "unreadable",
            Self::Widened => "widened",
            Self::Internal => "internal",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
