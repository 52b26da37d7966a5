//! `scopes-weakened`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "scopes-weakened",
    severity: Severity::Warning,
    summary: "a rule asks fewer scopes than the catalogue does",
    why: "A rule's list replaces the catalogue's. What is left out is asked of nobody.",
    environment: &[],
    fails: r#"endpoints:
  files_move: {scopes: ["files:write"]}
"#,
    mended: r#"endpoints:
  files_move: {scopes: ["files:write", "files:delete", "system:write"]}
"#,
};
