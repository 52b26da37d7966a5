//! Commands, terminals, transfers and tunnels over the wire, each beside what else could carry the same bytes: the least that an
//! axum server could do, a server that is known for it, or what the machine gives. `cargo bench -p runtime --bench streams`, or
//! `-- NAME…` for some of them.
//!
//! Each of them is a process of its own. Rounds are interleaved and take turns in who is first; what counts is the median of the
//! ratios of all rounds. Run it on a quiet machine, or where nothing else is in the same group of the processor: a child is
//! scheduled against everything that runs. Files lie in `TMPDIR`, which should be in memory.
//!
//! | module | |
//! |---|---|
//! | `peers` | who is measured |
//! | `work`, `terminal` | what is done to them; `client` and `mux` do it |
//! | `floor` | the axum server; `limits` need none |
//! | `stopped` | the memory of a server whose reader stops |
//! | `crowded` | other callers, while many commands sleep |
//!
//! nginx and ttyd are measured where they are found on `PATH`; a line says so where they are not.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a bench that meets something odd should stop, and says what it has measured"
)]

mod client;
mod crowded;
mod floor;
mod limits;
mod mux;
mod peers;
mod stopped;
mod terminal;
mod work;

use peers::{Kind, Peer};
use std::path::Path;
use std::process::ExitCode;

/// Rounds that count; one before them warms up.
const ROUNDS: usize = 7;

/// Memory that a transfer may take beyond idle, in MiB.
const MEMORY: u64 = 25;

/// What ours divided by the other should be.
#[derive(Debug, Clone, Copy)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// Only to be seen.
    None,
}

/// One measurement.
struct Bench {
    name: &'static str,
    unit: &'static str,
    run: fn(&Peer) -> f64,
    beside: &'static [(Kind, Goal)],
}

use Goal::{AtLeast, AtMost};

const BENCHES: [Bench; 12] = [
    Bench {
        name: "shell_1",
        unit: "calls/s",
        run: |p| work::shell(p, 1),
        beside: &[(Kind::Axum, AtLeast(0.9))],
    },
    Bench {
        name: "shell_8",
        unit: "calls/s",
        run: |p| work::shell(p, 8),
        beside: &[(Kind::Axum, AtLeast(0.9))],
    },
    Bench {
        name: "sse_lines",
        unit: "MB/s",
        run: |p| work::events(p, true),
        beside: &[(Kind::Axum, AtLeast(0.7))],
    },
    Bench { name: "sse_first", unit: "us", run: work::first_event, beside: &[(Kind::Axum, AtMost(1.3))] },
    Bench {
        name: "sse_bytes",
        unit: "MB/s",
        run: |p| work::events(p, false),
        beside: &[(Kind::Axum, AtLeast(0.8))],
    },
    Bench { name: "ws_text", unit: "MB/s", run: work::command_socket, beside: &[(Kind::Axum, AtLeast(0.8))] },
    Bench {
        name: "pty_frames",
        unit: "MB/s",
        run: terminal::frames,
        beside: &[(Kind::Limit, AtLeast(0.9)), (Kind::Ttyd, AtLeast(1.0))],
    },
    Bench {
        name: "pty_echo",
        unit: "us",
        run: terminal::echo,
        beside: &[(Kind::Axum, AtMost(1.3)), (Kind::Ttyd, AtMost(1.0))],
    },
    Bench {
        name: "download",
        unit: "MB/s",
        run: work::download,
        beside: &[(Kind::Nginx, AtLeast(1.0)), (Kind::Axum, Goal::None)],
    },
    Bench { name: "upload", unit: "MB/s", run: work::upload, beside: &[(Kind::Limit, AtLeast(0.95))] },
    Bench {
        name: "tunnel",
        unit: "MB/s",
        run: |p| work::tunnel(p, false),
        beside: &[(Kind::Axum, AtLeast(0.8))],
    },
    Bench {
        name: "tunnel_stream",
        unit: "MB/s",
        run: |p| work::tunnel(p, true),
        beside: &[(Kind::Axum, AtLeast(0.8))],
    },
];

/// What is measured beside nobody, with the files of a directory.
type Alone = fn(&Path);

const ALONE: [(&str, Alone); 2] = [("stopped", stopped::run), ("crowded", crowded::run)];

fn main() -> ExitCode {
    if let Some(done) = floor::play() {
        return done;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let dir = tempfile::tempdir().unwrap();
    work::prepare(dir.path());
    println!("{:<20} {:>10} {:>10}   ratio (least-most)", "", "ours", "other");
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| name.contains(asked.as_str()));
    for bench in BENCHES.iter().filter(|bench| wanted(bench.name)) {
        compare(bench, dir.path());
    }
    for (_, run) in ALONE.iter().filter(|(name, _)| wanted(name)) {
        run(dir.path());
    }
    ExitCode::SUCCESS
}

/// Fresh servers, so that the memory is that of this bench alone.
fn compare(bench: &Bench, dir: &Path) {
    let mut peers = vec![(Peer::start(Kind::Ours, dir).unwrap(), Goal::None)];
    let idle = peers[0].0.memory("VmRSS:");
    for (kind, goal) in bench.beside {
        match Peer::start(*kind, dir) {
            Ok(peer) => peers.push((peer, *goal)),
            Err(why) => println!("{:<20} not measured beside {kind:?}: {why}", bench.name),
        }
    }
    let mut results = vec![Vec::new(); peers.len()];
    for round in 0..=ROUNDS {
        for turn in 0..peers.len() {
            let who = (round + turn) % peers.len();
            let result = (bench.run)(&peers[who].0);
            if round > 0 {
                results[who].push(result);
            }
        }
    }
    let memory = peers[0].0.memory("VmHWM:").saturating_sub(idle) as f64 / 1024.0;
    let ours = work::median(results[0].clone());
    for ((peer, goal), other) in peers.iter().zip(&results).skip(1) {
        let mut ratios: Vec<f64> = results[0].iter().zip(other).map(|(ours, other)| ours / other).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = work::median(ratios.clone());
        println!(
            "{:<13} {:<6} {ours:>10.1} {:>10.1}   {ratio:.2} ({:.2}-{:.2})  {:<18} {}",
            bench.name,
            format!("{:?}", peer.kind),
            work::median(other.clone()),
            ratios[0],
            ratios[ratios.len() - 1],
            verdict(*goal, ratio),
            bench.unit
        );
    }
    println!("{:<20} {memory:>10.1} MiB beyond idle at most; goal <= {MEMORY}", "");
}

fn verdict(goal: Goal, ratio: f64) -> String {
    let said = |reached: bool| if reached { "reached" } else { "MISSED" };
    match goal {
        AtLeast(least) => format!(">= {least} {}", said(ratio >= least)),
        AtMost(most) => format!("<= {most} {}", said(ratio <= most)),
        Goal::None => String::new(),
    }
}
