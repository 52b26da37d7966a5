//! Whole commands, from the start of the process to its end or its first answer, each beside its floor.
//!
//! `cargo bench -p runtime --bench commands`. Only ratios within one run say something: compare `check` with `check_floor`
//! of the same size, and `boot` with its rows `axum` and `no_policy`.

#![expect(clippy::unwrap_used, reason = "a bench that meets something odd should stop")]

mod floor;
#[path = "../../../policy-lang/benches/support/policies.rs"]
mod policies;

use divan::Bencher;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const SERVER: &str = env!("CARGO_BIN_EXE_agent-sandbox-server");

fn main() -> ExitCode {
    floor::play().unwrap_or_else(|| {
        divan::main();
        ExitCode::SUCCESS
    })
}

/// A directory with one document.
struct Policy {
    dir: TempDir,
    path: PathBuf,
}

impl Policy {
    fn new(name: &str, text: impl Fn(&str) -> String) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text(dir.path().to_str().unwrap())).unwrap();
        Self { dir, path }
    }
}

fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(SERVER);
    command.args(arguments).env("CI_TOKEN", "a token of the bench");
    command
}

fn succeed(mut command: Command) {
    assert!(command.stdout(Stdio::null()).status().unwrap().success(), "{command:?}");
}

#[divan::bench(args = policies::SIZES)]
fn check_floor(bencher: Bencher<'_, '_>, size: usize) {
    let policy = Policy::new("policy.json", |dir| policies::json(size, dir));
    bencher.bench_local(|| succeed(floor::check(&policy.path)));
}

#[divan::bench(args = policies::SIZES)]
fn check(bencher: Bencher<'_, '_>, size: usize) {
    let policy = Policy::new("policy.json", |dir| policies::json(size, dir));
    let path = policy.path.to_str().unwrap();
    bencher.bench_local(|| succeed(server(&["check-config", "--strict", "--policy", path])));
}

#[divan::bench(args = policies::SIZES)]
fn check_yaml(bencher: Bencher<'_, '_>, size: usize) {
    let policy = Policy::new("policy.yaml", |dir| policies::yaml(size, dir));
    let path = policy.path.to_str().unwrap();
    bencher.bench_local(|| succeed(server(&["check-config", "--strict", "--policy", path])));
}

/// What a server boots from.
const BOOTS: [&str; 7] =
    ["axum", "no_policy", "compiled_100_kb", "json_100_kb", "yaml_100_kb", "compiled_10_mb", "json_10_mb"];

/// From the start of the process to the first answer of `/health`.
#[divan::bench(args = BOOTS)]
fn boot(bencher: Bencher<'_, '_>, from: &str) {
    let size = if from.ends_with("mb") { 10_000_000 } else { 100_000 };
    let policy = match from {
        "yaml_100_kb" => Policy::new("policy.yaml", |dir| policies::yaml(size, dir)),
        _ => Policy::new("policy.json", |dir| policies::json(size, dir)),
    };
    let (dir, source) = (policy.dir.path().to_str().unwrap(), policy.path.to_str().unwrap());
    let set = format!("{dir}/set");
    if from.starts_with("compiled") {
        succeed(server(&["compile", "--policy", source, "-o", &set]));
    }
    let policy = match from {
        "no_policy" => ["--base-dir", dir],
        _ => ["--policy", if from.starts_with("compiled") { &set } else { source }],
    };
    let start = || {
        let port = free_port();
        if from == "axum" {
            return Start { command: floor::serve(port), port };
        }
        let mut command =
            server(&["serve", "--host", "127.0.0.1", "--pty-port", "0", "--port", &port.to_string()]);
        command.args(policy);
        Start { command, port }
    };
    bencher.with_inputs(start).bench_local_values(Start::until_healthy);
}

/// A port that nobody listens on just now.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A server that is about to start.
struct Start {
    command: Command,
    port: u16,
}

impl Start {
    fn until_healthy(mut self) -> Running {
        let running = Running(self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        while !is_healthy(self.port) {
            std::thread::sleep(Duration::from_micros(100));
        }
        running
    }
}

fn is_healthy(port: u16) -> bool {
    let Ok(mut socket) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = [0; 12];
    let asked = socket.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    asked.and_then(|()| socket.read_exact(&mut answer)).is_ok() && answer.ends_with(b"200")
}

/// A server, ended when it is let go of.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
