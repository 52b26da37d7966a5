//! What the process does to itself before it reads a secret.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// No core file, and no other process of this user may read its memory or environment, or trace it.
pub(super) fn process() {
    // Where the kernel refuses, the scrubbed environment and the closed descriptors still hold.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
