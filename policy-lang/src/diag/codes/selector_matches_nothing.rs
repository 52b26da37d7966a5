//! `selector-matches-nothing`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "selector-matches-nothing",
    severity: Severity::Error,
    summary: "a glob that matches no endpoint",
    why: "A rule that governs no endpoint says nothing, and is most often a misspelt one.",
    environment: &[],
    fails: r#"endpoints:
  "file_*": {audit: deny}
"#,
    mended: r#"endpoints:
  "files_*": {audit: deny}
"#,
};
