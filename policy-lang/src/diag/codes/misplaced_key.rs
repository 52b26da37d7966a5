//! `misplaced-key`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "misplaced-key",
    severity: Severity::Error,
    summary: "a known key at a level where it does not belong",
    why: "The key would say nothing there. The message names the place where it does.",
    environment: &[],
    fails: r"endpoints:
  upload:
    max_bytes: 5MB
",
    mended: r"endpoints:
  upload:
    limits: {max_bytes: 5MB}
",
};
