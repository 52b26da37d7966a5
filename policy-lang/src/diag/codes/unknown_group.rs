//! `unknown-group`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-group",
    severity: Severity::Error,
    summary: "a group that does not exist",
    why: "A rule for a group that does not exist governs no endpoint.",
    environment: &[],
    fails: r"groups:
  fileops: {audit: deny}
",
    mended: r"groups:
  file_ops: {audit: deny}
",
};
