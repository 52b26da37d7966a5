//! Why a URL was not opened, or gave no answer.

use policy_lang::policy::ElementRef;
use std::io;

/// Why nothing came back. The texts hold nothing of the URL but what its author can see anyway.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// No absolute URL.
    #[error("not a URL")]
    Malformed,
    /// A user name or a password stands in the URL, where logs would show it.
    #[error("the URL holds a user name or a password")]
    User,
    /// A rule refuses the URL, or an address that its host resolves to.
    #[error("refused by policy")]
    Refused(ElementRef),
    /// The host has no address.
    #[error("the host has no address")]
    NotResolved,
    /// No address of the host took the connection.
    #[error("no connection: {}", .0.kind())]
    NotConnected(io::Error),
    /// The other end is not who the URL names, or speaks no TLS.
    #[error("no encrypted connection")]
    Tls,
    /// It took too long.
    #[error("timed out")]
    TimedOut,
    /// The other end does not speak HTTP/1.1, or hung up half-way.
    #[error("no valid HTTP answer")]
    Protocol,
    /// The answer is larger than the caller takes.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
}

impl EgressError {
    /// A short name for logs and delivery records.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::User => "user_in_url",
            Self::Refused(_) => "url_not_allowed",
            Self::NotResolved => "not_resolved",
            Self::NotConnected(_) => "not_connected",
            Self::Tls => "tls",
            Self::TimedOut => "timeout",
            Self::Protocol => "protocol",
            Self::TooLarge(_) => "too_large",
        }
    }
}
