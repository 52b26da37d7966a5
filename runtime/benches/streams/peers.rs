//! Who is measured: the server, and what it is measured beside. Each is a process of its own on a free port.

use crate::floor;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    /// The least that an axum server could do.
    Axum,
    /// No server: what the machine gives.
    Limit,
    Nginx,
    Ttyd,
}

/// One that runs; ended when dropped.
pub(crate) struct Peer {
    pub(crate) kind: Kind,
    pub(crate) port: u16,
    /// Where the files lie.
    pub(crate) dir: PathBuf,
    child: Option<Child>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Peer {
    /// Starts it, or says what is missing.
    pub(crate) fn start(kind: Kind, dir: &Path) -> Result<Self, String> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let command = match kind {
            Kind::Ours => Some(ours(dir, port)),
            Kind::Axum => Some(floor::command(port)),
            Kind::Limit => None,
            Kind::Nginx => Some(nginx(dir, port)),
            Kind::Ttyd => Some(ttyd(port)),
        };
        let mut peer = Self { kind, port, dir: dir.to_owned(), child: None };
        let Some(mut command) = command else { return Ok(peer) };
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        peer.child = Some(child.map_err(|error| format!("{name}: {error}"))?);
        let until = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > until {
                return Err(format!("{name} does not listen"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(peer)
    }

    /// A line of its status, in KiB.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let pid = self.child.as_ref().map_or(0, Child::id);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
    }
}

fn ours(dir: &Path, port: u16) -> Command {
    let policy = serde_json::json!({
        "defaults": {"limits": {"rate_per_minute": 100_000_000, "max_concurrency": 1000}},
        "endpoints": {
            "tunnel_connect": {"limits": {"max_bytes": "16GiB"}},
            "files_download_stream": {"limits": {"max_bytes": "2GiB"}},
            "files_upload_stream": {"limits": {"max_bytes": "2GiB", "max_request_bytes": "4GiB"}},
        },
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    command.args(["serve", "--host", "127.0.0.1", "--pty-port", "0", "--port", &port.to_string()]);
    command.arg("--base-dir").arg(dir.join("base")).env("ABX_SERVER_POLICY", policy.to_string());
    command
}

/// One process, with everything that it writes in the bench's own directory.
fn nginx(dir: &Path, port: u16) -> Command {
    let own = dir.join("nginx");
    std::fs::create_dir_all(&own).unwrap();
    let (base, at) = (dir.join("base"), own.display());
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {at}/{name};"))
        .join(" ");
    let configuration = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/errors; events {{}}\n\
         http {{ access_log off; sendfile on; tcp_nopush on; {temporary}\n\
         server {{ listen 127.0.0.1:{port}; root {}; }} }}\n",
        base.display()
    );
    let path = own.join("nginx.conf");
    std::fs::write(&path, configuration).unwrap();
    let mut command = Command::new("nginx");
    command.arg("-e").arg(own.join("errors")).arg("-p").arg(&own).arg("-c").arg(path);
    command
}

/// A shell for whoever connects.
fn ttyd(port: u16) -> Command {
    let mut command = Command::new("ttyd");
    command.args(["-i", "127.0.0.1", "-W", "-p", &port.to_string(), "/bin/sh"]);
    command
}
