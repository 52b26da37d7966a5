//! Readers that stop: a command prints without end to a client that reads nothing, and the memory of the server is
//! watched.

use crate::peers::{Kind, Peer};
use crate::{terminal, work};
use std::any::Any;
use std::path::Path;
use std::time::Duration;

/// For how long.
const TIME: Duration = Duration::from_secs(60);

/// What starts such a command and holds on to its connection.
type Door = (&'static str, fn(&Peer) -> Box<dyn Any>);

const DOORS: [Door; 4] = [
    ("sse_lines", |peer| Box::new(work::start(peer, true, "yes"))),
    ("sse_bytes", |peer| Box::new(work::start(peer, false, "yes"))),
    ("ws_text", |peer| Box::new(work::run(peer, &["yes"]))),
    ("pty", |peer| Box::new(terminal::run(peer, "yes\n"))),
];

/// Prints how far the memory of each door's server rose.
pub(crate) fn run(dir: &Path) {
    println!("\nreaders that stop for {} s, memory beyond idle", TIME.as_secs());
    let servers = DOORS.map(|(name, open)| {
        let peer = Peer::start(Kind::Ours, dir).unwrap();
        let idle = peer.memory("VmRSS:");
        (name, idle, open(&peer), peer)
    });
    std::thread::sleep(TIME);
    for (name, idle, _connection, peer) in servers {
        let more = peer.memory("VmHWM:").saturating_sub(idle) as f64 / 1024.0;
        println!("  {name:<18} {more:>8.1} MiB   goal <= {} MiB", crate::MEMORY);
    }
}
