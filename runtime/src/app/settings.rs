//! What flags and environment said at start. A reload of the policy does not change it.

use std::net::IpAddr;
use std::path::PathBuf;

/// Settings of the process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address of both listeners.
    pub host: IpAddr,
    /// HTTP port that was bound.
    pub http_port: u16,
    /// Port of the PTY WebSocket listener; also what `ws_url` names.
    pub pty_port: u16,
    /// Origins that may call, exactly as a browser sends them.
    pub allow_origins: Vec<String>,
    /// Host names that may be asked for beside loopback ones while bound to loopback, lower case, without port.
    pub allow_hosts: Vec<String>,
    /// The only `{sandbox_id}` that is answered; any, where absent.
    pub sandbox_id: Option<String>,
    /// Where the audit log is, when it is a file: no endpoint may reach it.
    pub audit_file: Option<PathBuf>,
    /// What the server keeps over its own end; absolute. No endpoint may reach it.
    pub state_dir: PathBuf,
}

impl Settings {
    /// Whether the server is bound to a loopback address only.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host.to_canonical().is_loopback()
    }
}
