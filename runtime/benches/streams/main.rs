//! Commands, terminals, transfers and tunnels over the wire, each beside the least that an axum server could do for the same
//! bytes. `cargo bench -p runtime --bench streams`, or `-- NAME…` for some of them.
//!
//! Both servers run as processes of their own; rounds are interleaved, and what counts is the ratio of the medians. Run it
//! on a quiet machine, or where nothing else is in the same group of the processor: a child is scheduled against
//! everything that runs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a bench that meets something odd should stop, and says what it has measured"
)]

mod client;
mod floor;

use client::{Http, Peer};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each pair; the first warms up and does not count.
const ROUNDS: usize = 6;

/// Bytes of a stream.
const STREAM: usize = 32 << 20;

/// Bytes of a terminal, which is slower.
const SCREEN: usize = 8 << 20;

/// Bytes of a file.
const FILE: usize = 256 << 20;

/// One measurement: what it yields is better when it is greater, unless it is a time.
struct Bench {
    name: &'static str,
    unit: &'static str,
    /// The goal for ours divided by the floor.
    goal: f64,
    run: fn(&Peer, &Path) -> f64,
}

const BENCHES: [Bench; 10] = [
    Bench { name: "shell_1", unit: "calls/s", goal: 0.9, run: |peer, _| shell(peer, 1) },
    Bench { name: "shell_8", unit: "calls/s", goal: 0.9, run: |peer, _| shell(peer, 8) },
    Bench {
        name: "sse_lines",
        unit: "MB/s",
        goal: 0.7,
        run: |peer, dir| events(peer, dir, "/shell/stream", "lines"),
    },
    Bench {
        name: "sse_bytes",
        unit: "MB/s",
        goal: 0.8,
        run: |peer, dir| events(peer, dir, "/v2/sandboxes/box/execute/stream/start", "bytes"),
    },
    Bench { name: "ws_text", unit: "MB/s", goal: 0.8, run: |peer, dir| command_socket(peer, dir) },
    Bench { name: "pty_frames", unit: "MB/s", goal: 0.9, run: |peer, dir| screen(peer, dir) },
    Bench { name: "pty_echo", unit: "us", goal: 1.3, run: |peer, _| echo(peer) },
    Bench { name: "download", unit: "MB/s", goal: 0.8, run: |peer, _| download(peer) },
    Bench { name: "upload", unit: "MB/s", goal: 0.95, run: |peer, _| upload(peer) },
    Bench { name: "tunnel", unit: "MB/s", goal: 0.8, run: |peer, _| tunnel(peer) },
];

fn main() -> ExitCode {
    if let Some(done) = floor::play() {
        return done;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    // In memory where `TMPDIR` lies there; never below `/dev`, which the guard refuses.
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    println!(
        "{:<11} {:>10} {:>10} {:>7} {:>6}  memory of ours beyond idle",
        "", "ours", "floor", "ratio", "goal"
    );
    for bench in BENCHES
        .iter()
        .filter(|bench| asked.is_empty() || asked.iter().any(|name| bench.name.contains(name.as_str())))
    {
        // Fresh servers, so that the memory is that of this bench alone.
        let (ours, floor) = (Running::ours(dir.path()), Running::floor(dir.path()));
        let idle = ours.memory("VmRSS:");
        let mut results = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            for (server, results) in [&ours, &floor].into_iter().zip(&mut results) {
                let result = (bench.run)(&server.peer, dir.path());
                if round > 0 {
                    results.push(result);
                }
            }
        }
        let [one, other] = results.map(median);
        let more = ours.memory("VmHWM:").saturating_sub(idle);
        println!(
            "{:<11} {one:>10.1} {other:>10.1} {:>7.2} {:>6}  {:.1} MiB ({})",
            bench.name,
            one / other,
            bench.goal,
            more as f64 / 1024.0,
            bench.unit
        );
    }
    ExitCode::SUCCESS
}

/// What is sent: lines of 72 bytes, and a file.
fn prepare(dir: &Path) {
    let line = format!("{}\n", "0123456789".repeat(8).split_at(71).0);
    for (name, size) in [("lines", STREAM), ("screen", SCREEN)] {
        std::fs::write(dir.join(name), line.repeat(size / line.len())).unwrap();
    }
    std::fs::create_dir(dir.join("base")).unwrap();
    std::fs::write(dir.join("base/file"), vec![b'x'; FILE]).unwrap();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server, ended when dropped.
struct Running {
    child: Child,
    peer: Peer,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn ours(dir: &Path) -> Self {
        let policy = serde_json::json!({
            "defaults": {"limits": {"rate_per_minute": 100_000_000, "max_concurrency": 1000}},
            "endpoints": {
                "shell_stream": {"limits": {"max_output_bytes": "256MiB"}},
                "files_upload_stream": {"limits": {"max_bytes": "1GiB", "max_request_bytes": "2GiB"}},
            },
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
        command.args(["serve", "--host", "127.0.0.1", "--pty-port", "0"]);
        command.arg("--base-dir").arg(dir.join("base")).env("ABX_SERVER_POLICY", policy.to_string());
        let with_port = |command: &mut Command, port: u16| {
            command.args(["--port", &port.to_string()]);
        };
        Self::start(command, with_port, true, dir)
    }

    fn floor(dir: &Path) -> Self {
        Self::start(Command::new(std::env::current_exe().unwrap()), floor::as_role, false, dir)
    }

    fn start(mut command: Command, with_port: fn(&mut Command, u16), ours: bool, dir: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        with_port(&mut command, port);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let running = Self { child, peer: Peer { port, ours, dir: dir.to_owned() } };
        let until = Instant::now() + Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "a server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    /// A line of its status, in KiB.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
    }
}

fn megabytes(bytes: usize, begun: Instant) -> f64 {
    bytes as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

/// How often `true` runs in a second.
fn shell(peer: &Peer, connections: usize) -> f64 {
    let until = Instant::now() + Duration::from_secs(2);
    let call = || {
        let (mut http, mut calls) = (Http::connect(peer), 0.0);
        while Instant::now() < until {
            http.post("/shell", r#"{"command":"true"}"#);
            assert!(http.body().len() > 10);
            calls += 1.0;
        }
        calls
    };
    let calls: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(call)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    calls / 2.0
}

/// Lines of a file through an event stream: what comes over the wire.
fn events(peer: &Peer, dir: &Path, path: &str, format: &str) -> f64 {
    let command = format!("cat {}", dir.join("lines").display());
    let mut http = Http::connect(peer);
    let begun = Instant::now();
    http.post(path, &serde_json::json!({"command": command, "format": format, "idle_timeout_seconds": 5, "ttl_seconds": 1}).to_string());
    let bytes = http.drain();
    assert!(bytes > STREAM, "{bytes} bytes of events");
    megabytes(bytes, begun)
}

/// The same file through the socket of a command.
fn command_socket(peer: &Peer, dir: &Path) -> f64 {
    let mut socket = client::socket(peer, "/v2/sandboxes/box/execute/ws", None);
    let begun = Instant::now();
    let execute = serde_json::json!({"type": "execute", "command": ["cat", dir.join("lines")], "ttl_seconds": 1, "idle_timeout_seconds": 5});
    socket.send(execute.to_string().into()).unwrap();
    let bytes = client::texts(&mut socket);
    assert!(bytes > STREAM, "{bytes} bytes of frames");
    megabytes(bytes, begun)
}

/// A file on a terminal; the floor reads the terminal itself.
fn screen(peer: &Peer, dir: &Path) -> f64 {
    let file = dir.join("screen");
    if !peer.ours {
        return floor::screen(&file);
    }
    let mut socket = client::terminal(peer, &format!("stty -opost; cat {}; exit\n", file.display()));
    let begun = Instant::now();
    let bytes = client::texts(&mut socket);
    assert!(bytes > SCREEN, "{bytes} bytes of frames");
    megabytes(bytes, begun)
}

/// The time from a key to its echo.
fn echo(peer: &Peer) -> f64 {
    let mut socket = client::terminal(peer, "");
    client::settle(&mut socket);
    let times = (0..400).map(|_| client::key(&mut socket).as_secs_f64() * 1e6).collect();
    median(times)
}

fn download(peer: &Peer) -> f64 {
    let mut http = Http::connect(peer);
    let begun = Instant::now();
    let door = if peer.ours { "/v2/sandboxes/box/download" } else { "/download" };
    http.get(&format!("{door}?path={}", peer.dir.join("base/file").display()));
    let bytes = http.drain();
    assert_eq!(bytes, FILE);
    megabytes(bytes, begun)
}

/// A file up; the floor receives and writes, and speaks no HTTP.
fn upload(peer: &Peer) -> f64 {
    let piece = vec![b'y'; 1 << 20];
    if !peer.ours {
        return floor::receive(&piece, FILE, &peer.dir);
    }
    let (head, tail) =
        ("--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n", "\r\n--xx--\r\n");
    let mut http = Http::connect(peer);
    let begun = Instant::now();
    let length = head.len() + FILE + tail.len();
    http.head(
        "POST",
        "/v2/sandboxes/box/upload?path=up",
        &format!("Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: {length}\r\n"),
    );
    http.stream.get_mut().write_all(head.as_bytes()).unwrap();
    for _ in 0..FILE / piece.len() {
        http.stream.get_mut().write_all(&piece).unwrap();
    }
    http.stream.get_mut().write_all(tail.as_bytes()).unwrap();
    assert!(http.body().starts_with(b"{\"path\""));
    megabytes(FILE, begun)
}

/// What a port sends, through a tunnel.
fn tunnel(peer: &Peer) -> f64 {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let number = port.local_addr().unwrap().port();
    let sender = std::thread::spawn(move || {
        let (mut stream, _) = port.accept().unwrap();
        let piece = vec![b'z'; 256 << 10];
        for _ in 0..STREAM * 4 / piece.len() {
            stream.write_all(&piece).unwrap();
        }
    });
    let begun = Instant::now();
    let mut socket = client::socket(peer, "/tunnel", Some(number));
    let bytes = client::binaries(&mut socket);
    sender.join().unwrap();
    assert_eq!(bytes, STREAM * 4);
    megabytes(bytes, begun)
}
