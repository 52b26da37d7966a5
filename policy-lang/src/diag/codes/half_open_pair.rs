//! `half-open-pair`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "half-open-pair",
    severity: Severity::Warning,
    summary: "one of two endpoints is open that are of no use without each other",
    why: "What one begins only the other can use or end.",
    environment: &[],
    fails: r"endpoints:
  pty_connect: {enabled: false}
",
    mended: r"endpoints:
  pty_create: {enabled: false}
  pty_connect: {enabled: false}
",
};
