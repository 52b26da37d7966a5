//! `unknown-preset`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-preset",
    severity: Severity::Error,
    summary: "a preset that does not exist",
    why: "Without its preset a policy would fall back to the open default surface, so it is refused \
           instead.",
    environment: &[],
    fails: r"preset: readonly
",
    mended: r"preset: read-only
",
};
