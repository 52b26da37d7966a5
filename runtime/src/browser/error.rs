//! Why the browser did not do what it was asked to.

use super::cdp::CdpError;

/// What went wrong. The texts are for the caller.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// There is no browser here, or it does not start.
    #[error("{0}")]
    Unavailable(String),
    /// The browser or the page ended meanwhile. The next call gets a new one.
    #[error("{0}")]
    Ended(&'static str),
    /// It took too long.
    #[error("{0}")]
    TimedOut(String),
    /// The selector cannot be read.
    #[error("{0}")]
    Selector(String),
    /// A script threw: the class of what it threw, and what that says.
    #[error("{message}")]
    Script {
        /// `TypeError`, `Error`, …
        class: String,
        /// Its message.
        message: String,
    },
    /// The URL is none that could be opened.
    #[error("{0}")]
    Url(String),
    /// The page could not be loaded.
    #[error("{0}")]
    Navigation(String),
    /// A rule refuses the URL, or one that it led to.
    #[error("refused by policy")]
    Refused {
        /// The rule to name.
        rule: String,
    },
    /// The picture or text is larger than may be.
    #[error("{what} is larger than the limit of {limit} {unit}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large it may be.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// The browser says something unexpected.
    #[error("{0}")]
    Protocol(String),
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Closed => Self::Ended("The browser has ended; the next call starts another"),
            CdpError::Gone => Self::Ended("The page has crashed; the next call opens another"),
            CdpError::Refused(_) | CdpError::Shape => Self::Protocol(error.to_string()),
        }
    }
}
