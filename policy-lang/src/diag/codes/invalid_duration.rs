//! `invalid-duration`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-duration",
    severity: Severity::Error,
    summary: "a duration that cannot be read",
    why: "A duration is a number of seconds, or a number with `s`, `m` or `h`.",
    environment: &[],
    fails: r"endpoints:
  shell:
    limits: {timeout_seconds: 2 minutes}
",
    mended: r"endpoints:
  shell:
    limits: {timeout_seconds: 2m}
",
};
