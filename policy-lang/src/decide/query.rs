//! What is asked of the policy: one call, real or imagined. Every member but the endpoint may be absent.

use super::Op;
use crate::policy::EndpointIx;
use crate::scope::ScopeSet;
use std::net::IpAddr;

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The endpoint.
    pub endpoint: EndpointIx,
    /// What the caller holds; absent: scopes are not asked.
    pub scopes: Option<&'a ScopeSet>,
    /// The value for `{name}` in a scope of the endpoint (the command's name).
    pub scope_param: Option<&'a str>,
    /// Size of the request body, as announced or as read so far.
    pub request_bytes: Option<u64>,
    /// The paths it touches.
    pub paths: &'a [PathQuery<'a>],
    /// The program it runs.
    pub command: Option<CommandQuery<'a>>,
    /// The shell it names in its `shell` field.
    pub shell: Option<&'a str>,
    /// The language of its snippet.
    pub language: Option<&'a str>,
    /// The signal it sends.
    pub signal: Option<u8>,
    /// The URL it opens.
    pub url: Option<&'a crate::matchers::url::Target>,
    /// The addresses that the URL's host resolves to; empty while nobody has resolved it.
    pub addresses: &'a [IpAddr],
    /// The loopback port it connects to.
    pub port: Option<u16>,
    /// The variables it sets, shows or carries.
    pub variables: &'a [VariableQuery<'a>],
    /// Size of the file, answer or transfer.
    pub bytes: Option<u64>,
}

impl<'a> Query<'a> {
    /// A call of `endpoint` of which nothing else is asked.
    #[must_use]
    pub const fn of(endpoint: EndpointIx) -> Self {
        Self {
            endpoint,
            scopes: None,
            scope_param: None,
            request_bytes: None,
            paths: &[],
            command: None,
            shell: None,
            language: None,
            signal: None,
            url: None,
            addresses: &[],
            port: None,
            variables: &[],
            bytes: None,
        }
    }
}

/// One path of a call.
#[derive(Debug, Clone, Copy)]
pub struct PathQuery<'a> {
    /// The parameter it came in: `path`, `source`, `destination`, `cwd`.
    pub role: &'a str,
    /// The path in normal form, see [`crate::paths::absolute`].
    pub path: &'a [u8],
    /// What is done to it. [`Op::Write`] marks the destination of a write, whose name the extension gate judges.
    pub op: Op,
}

/// The program of a call. A command given as one string for a shell to run is the program of that shell.
#[derive(Debug, Clone, Copy)]
pub struct CommandQuery<'a> {
    /// `argv[0]` as given.
    pub argv0: &'a str,
    /// The file that would be executed: absolute, links in its directory resolved, its own name as found. Absent in pure
    /// computation.
    pub found: Option<&'a str>,
    /// The same file with every link resolved.
    pub target: Option<&'a str>,
}

/// How a call uses a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableUse {
    /// Sets it for later children.
    Set,
    /// Shows it.
    Show,
    /// Carries it in the `env` of a request.
    Carry,
}

/// One variable of a call.
#[derive(Debug, Clone, Copy)]
pub struct VariableQuery<'a> {
    /// Its name.
    pub name: &'a str,
    /// How it is used.
    pub usage: VariableUse,
}
