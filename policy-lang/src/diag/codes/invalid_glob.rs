//! `invalid-glob`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-glob",
    severity: Severity::Error,
    summary: "a pattern that cannot be read",
    why: "A deny that is dropped because it cannot be read leaves open what it was to close.",
    environment: &[],
    fails: r#"preset: read-only
endpoints:
  files_list:
    paths: {deny: ["{out,tmp"]}
"#,
    mended: r#"preset: read-only
endpoints:
  files_list:
    paths: {deny: ["{out,tmp}"]}
"#,
};
