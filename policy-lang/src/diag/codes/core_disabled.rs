//! `core-disabled`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "core-disabled",
    severity: Severity::Error,
    summary: "an endpoint of the group `core` is closed by name",
    why: "Health checks and the discovery of what is open have to answer whatever the policy says. A wide \
           selector passes them over; one that names them is a mistake.",
    environment: &[],
    fails: r"endpoints:
  health: {enabled: false}
",
    mended: r"preset: locked
",
};
