//! What the process does to itself before it reads a secret.

use crate::log;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// No core file, and no other process of this user may read its memory or environment, or trace it.
pub(super) fn process() {
    // Where the kernel refuses, the scrubbed environment and the closed descriptors still hold.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // A file that may not grow further must be an error of the write, not the end of the server. Children get the
    // default back.
    // SAFETY: ignoring a signal installs no code of ours, and no other thread exists yet.
    #[expect(unsafe_code, reason = "ignoring a signal has no safe interface")]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}

/// A panic costs one request and is told by its place alone: its message may hold what a caller sent.
pub(super) fn panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        log::say(format_args!("a request failed: panic at {place}"));
    }));
}
