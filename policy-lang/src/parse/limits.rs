//! The bounds of a document. They hold for both formats, and past them comes a finding, never a hang or an abort.

use crate::diag::{Code, Diagnostic};
use crate::source::MAX_DOCUMENT_BYTES;

/// How deep collections may stand within each other, aliases and merge keys followed. The root is at depth 1.
pub const MAX_DEPTH: usize = 64;

/// How many values a document may have, those of every alias and merge key counted each time they are used.
pub const MAX_NODES: usize = 1_000_000;

pub(super) fn too_many_bytes() -> Diagnostic {
    // How many more there are is not known of what is read no further.
    Diagnostic::new(
        Code::DocumentTooLarge,
        format!("the document has more than the {MAX_DOCUMENT_BYTES} bytes (16 MiB) that are read"),
    )
    .help("a policy of this size is usually generated: merge entries under globs or groups")
}

pub(super) fn too_many_nodes() -> Diagnostic {
    Diagnostic::new(
        Code::DocumentTooLarge,
        format!("the document has more than {MAX_NODES} values, aliases expanded"),
    )
    .help("aliases of aliases multiply: write the repeated part under `defaults`, a group or a glob instead")
}

pub(super) fn too_deep() -> Diagnostic {
    Diagnostic::new(Code::DocumentTooLarge, format!("the document nests deeper than {MAX_DEPTH} levels"))
        .help("no key of a policy nests deeper than six levels")
}
