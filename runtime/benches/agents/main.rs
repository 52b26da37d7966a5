//! The agents group under load: the real server, real agent processes, readers over sockets. `cargo bench -p runtime
//! --bench agents`, or `-- NAME…` for some of them.
//!
//! Every round is one session: a prompt makes the scripted agent write chunks as fast as it can, and the round is over when
//! the last reader has the event that ends the turn. What a reader sees is on disk already, so the figures are of chunks
//! that are on disk and with all who read. Readers do nothing but count numbers, and stop where one is missing.
//!
//! Run it on a quiet machine: agent, server and readers share its cores. It ends with a table, and fails where a goal is
//! missed.
//!
//! | module | |
//! |---|---|
//! | `floods` | what agents say on its way to disk and to readers, and the memory that it takes |
//! | `reading` | long logs and large stores |
//! | `table` | what was measured, beside the goals |
//! | `memory`, `tap` | looking at the server, and reading from it, at next to no cost |

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a bench that meets something odd should stop, and says what it has measured"
)]
#![allow(dead_code, clippy::allow_attributes, reason = "the support serves the tests too")]

#[path = "../../../tests/http/client.rs"]
mod client;
#[path = "../../../tests/agents/follow.rs"]
mod follow;
#[path = "../../../tests/agents/lab.rs"]
mod lab;
#[path = "../../../tests/http/raw.rs"]
mod raw;
#[path = "../../../tests/http/server.rs"]
mod server;

mod floods;
mod memory;
mod reading;
mod table;
mod tap;

use lab::Lab;
use serde_json::json;
use server::Setup;
use std::path::Path;
use std::process::ExitCode;
use table::Row;
use tap::Tap;

/// A measurement. It gets a directory of its own.
type Bench = (&'static str, fn(&Path) -> Vec<Row>);

const BENCHES: [Bench; 5] = [
    ("flood", floods::flood),
    ("sixteen", floods::sixteen),
    ("replay", reading::replay),
    ("search", reading::search),
    ("memory", floods::endless),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (name, run) in BENCHES {
        if asked.is_empty() || asked.iter().any(|asked| name.contains(asked.as_str())) {
            // A fresh server, so that what is measured is of this one alone.
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("base")).unwrap();
            rows.extend(run(dir.path()));
        }
    }
    table::print(&rows)
}

/// A server whose base directory and state are in `dir`, and outlive it. It knows the scripted agent.
fn lab(dir: &Path) -> Lab {
    let policy = json!({"defaults": {"limits": {"rate_per_minute": 100_000_000, "max_concurrency": 1000}}});
    let name = |part: &str| dir.join(part).display().to_string();
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(&policy.to_string());
    let setup = setup.no_base_dir().arg("--base-dir").arg(&name("base"));
    let lab = Lab { server: setup.arg("--state-dir").arg(&name("state")).start(), token: None };
    lab.register("scripted", &[]);
    lab
}

/// Opens a session of the scripted agent.
fn session(lab: &Lab, dir: &Path) -> String {
    lab.session_with("scripted", json!({"cwd": dir.join("base")}))
}

/// Prompts a session and does not wait.
fn prompt(lab: &Lab, session: &str, text: &str) {
    lab.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": text}));
}

/// Reads a session from its beginning.
fn tap(lab: &Lab, session: &str) -> Tap {
    Tap::open(lab.server.port, &format!("/agents/sessions/{session}/events/stream"))
}
