//! What the command line says, and how it goes together with the environment.

use super::Fault;
use crate::app::Settings;
use crate::auth::Tokens;
use crate::env::Env;
use std::net::IpAddr;
use std::path::PathBuf;

/// The port of terminals where nobody names one.
const PTY_PORT: u16 = 9001;

/// The flags of `serve`.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--host`
    pub host: IpAddr,
    /// `--port`
    pub port: u16,
    /// `--pty-port`
    pub pty_port: Option<u16>,
    /// `--policy`
    pub policy: Option<PathBuf>,
    /// `--preset`
    pub preset: Option<String>,
    /// `--commands`
    pub commands: Option<String>,
    /// `--base-dir`
    pub base_dir: Option<PathBuf>,
    /// `--allow-origin`
    pub allow_origins: Vec<String>,
    /// `--allow-host`
    pub allow_hosts: Vec<String>,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--require-auth`
    pub require_auth: bool,
    /// `--child-user`
    pub child_user: Option<String>,
    /// `--forward-output`
    pub forward_output: bool,
    /// `--sandbox-id`
    pub sandbox_id: Option<String>,
}

impl Default for Options {
    /// What holds where no flag is given.
    fn default() -> Self {
        Self {
            host: IpAddr::from([0, 0, 0, 0]),
            port: 9000,
            pty_port: None,
            policy: None,
            preset: None,
            commands: None,
            base_dir: None,
            allow_origins: Vec::new(),
            allow_hosts: Vec::new(),
            state_dir: None,
            require_auth: false,
            child_user: None,
            forward_output: false,
            sandbox_id: None,
        }
    }
}

/// Settles what does not depend on the policy. Ports are settled when they are bound.
pub(super) fn settings(options: &Options, env: &Env) -> Result<Settings, Fault> {
    Ok(Settings {
        host: options.host,
        http_port: options.port,
        pty_port: pty_port(options, env)?,
        allow_origins: options.allow_origins.clone(),
        allow_hosts: options.allow_hosts.clone(),
        sandbox_id: options.sandbox_id.clone(),
        audit_file: env.audit_file.as_deref().map(PathBuf::from),
        state_dir: state_dir(options, env),
    })
}

/// `--state-dir`, then `ABX_STATE_DIR`, then a folder that outlives the machine's start and is no home of a child.
fn state_dir(options: &Options, env: &Env) -> PathBuf {
    let named = options.state_dir.clone().or_else(|| env.state_dir.as_deref().map(PathBuf::from));
    let uid = rustix::process::geteuid();
    let dir = named.unwrap_or_else(|| match uid.is_root() {
        true => PathBuf::from("/var/lib/agent-sandbox-server"),
        false => PathBuf::from(format!("/var/tmp/agent-sandbox-server-{}", uid.as_raw())),
    });
    std::path::absolute(&dir).unwrap_or(dir)
}

/// `--pty-port`, then `ABX_PTY_PORT`, then 9001.
pub(super) fn pty_port(options: &Options, env: &Env) -> Result<u16, Fault> {
    match (options.pty_port, env.pty_port.as_deref()) {
        (Some(port), _) => Ok(port),
        (None, None) => Ok(PTY_PORT),
        (None, Some(text)) => text.parse().map_err(|_| {
            Fault::failed(format!("`ABX_PTY_PORT` is no port: `{text}`"))
                .help("write a number from 1 to 65535")
        }),
    }
}

/// What is open to whom: a warning, or under `--require-auth` a refusal.
pub(super) fn exposure(options: &Options, tokens: &Tokens) -> Result<Option<String>, Fault> {
    if !tokens.is_open() {
        return Ok(None);
    }
    let help = "set ABX_SERVER_TOKEN or write `auth.tokens` in the policy";
    if options.require_auth {
        return Err(Fault::failed("no token is configured, and --require-auth asks for one").help(help));
    }
    let beyond = !options.host.to_canonical().is_loopback();
    let open = "no token is configured: everyone who reaches this port may call every enabled endpoint";
    Ok(beyond.then(|| format!("{open}, from other machines too ({}); {help}", options.host)))
}
