//! `configures-closed-endpoint`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "configures-closed-endpoint",
    severity: Severity::Warning,
    summary: "limits or paths of an endpoint that stays closed",
    why: "Setting a limit does not open an endpoint: the rule has no effect until something else does.",
    environment: &[],
    fails: r"endpoints:
  browser_pdf:
    limits: {rate_per_minute: 30}
",
    mended: r"endpoints:
  browser_pdf:
    enabled: true
    limits: {rate_per_minute: 30}
",
};
