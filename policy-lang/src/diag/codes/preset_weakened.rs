//! `preset-weakened`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "preset-weakened",
    severity: Severity::Info,
    summary: "the policy opens or widens what its preset closed",
    why: "This is often meant, and worth knowing when the preset's name is all that a reader sees.",
    environment: &[],
    fails: r"preset: hardened
endpoints:
  env_set: {enabled: true}
",
    mended: r"preset: hardened
",
};
