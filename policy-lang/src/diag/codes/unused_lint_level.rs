//! `unused-lint-level`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unused-lint-level",
    severity: Severity::Warning,
    summary: "a level that changes no finding",
    why: "What it left out is mended or has moved, and the next finding of that code at this place would go \
           unseen.",
    environment: &[],
    fails: r#"endpoints:
  # abx: allow scopes-weakened the reviewer only reads
  shell: false
"#,
    mended: r#"endpoints:
  shell: false
"#,
};
