//! `close-does-not-hold`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "close-does-not-hold",
    severity: Severity::Warning,
    summary: "a `false` that a more specific `true` of a lower layer beats",
    why: "The author believes it closed. The preset opens these endpoints by their exact ids, and an exact \
           id beats a group.",
    environment: &[],
    fails: r"preset: read-only
groups:
  system: false
",
    mended: r"preset: read-only
endpoints:
  system_info: false
  system_metrics: false
  ports: false
  packages: false
",
};
