//! `serve`: runs the server.

use super::Exit;
use crate::boot::{self, Options};
use crate::log;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// Run the server
///
/// The policy is the first of these that is there: --policy, ABX_SERVER_POLICY, ABX_SERVER_POLICY_FILE,
/// /etc/agent-sandbox/server-policy.json; with none of them the built-in defaults hold. A source that is named must load.
/// SIGHUP reads it again; SIGTERM stops within ten seconds.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address to listen on
    #[arg(long, default_value = "0.0.0.0")]
    host: IpAddr,
    /// HTTP port; 0 takes a free one
    #[arg(long, default_value_t = 9000)]
    port: u16,
    /// Port of the terminal WebSocket; 0 takes a free one [default: ABX_PTY_PORT or 9001]
    #[arg(long)]
    pty_port: Option<u16>,
    /// Policy document, or a compiled set
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Preset to use in place of the document's
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Commands and routes of a template: a declarative file, a Python file, or a Python module
    #[arg(long, value_name = "FILE|MODULE")]
    commands: Option<String>,
    /// Directory that the file endpoints work in [default: the policy's, ABX_SERVER_BASE_DIR or /home/user]
    #[arg(long, value_name = "DIR")]
    base_dir: Option<PathBuf>,
    /// Folder that the server keeps its own state in, outside the base directory [default: ABX_STATE_DIR or
    /// /var/lib/agent-sandbox-server]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Origin of web pages that may call; may be given several times
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    allow_origins: Vec<String>,
    /// Host name that may be asked for while listening on loopback; may be given several times
    #[arg(long = "allow-host", value_name = "NAME")]
    allow_hosts: Vec<String>,
    /// Refuse to start where no token is configured
    #[arg(long)]
    require_auth: bool,
    /// Run children as this user rather than as root: a name of /etc/passwd, UID or UID:GID
    #[arg(long, value_name = "USER")]
    child_user: Option<String>,
    /// Print what background processes print to the server's log too, each line with its pid
    #[arg(long)]
    forward_output: bool,
    /// Sandbox name that the data plane's doors answer to; any other is not found [default: every name]
    #[arg(long, value_name = "NAME")]
    sandbox_id: Option<String>,
}

impl Serve {
    pub(super) fn run(self) -> Exit {
        let options = Options {
            host: self.host,
            port: self.port,
            pty_port: self.pty_port,
            policy: self.policy,
            preset: self.preset,
            commands: self.commands,
            base_dir: self.base_dir,
            state_dir: self.state_dir,
            allow_origins: self.allow_origins,
            allow_hosts: self.allow_hosts,
            require_auth: self.require_auth,
            child_user: self.child_user,
            forward_output: self.forward_output,
            sandbox_id: self.sandbox_id,
        };
        match boot::run(options) {
            Ok(()) => Exit::Success,
            Err(fault) => {
                log::show(fault.findings());
                log::say(format_args!("{fault}"));
                // Where it came late a thread of the log's writes it, which ends with this one.
                log::flush(boot::LAST_LINES);
                fault.exit()
            }
        }
    }
}
