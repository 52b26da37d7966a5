//! `unknown-scope`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-scope",
    severity: Severity::Error,
    summary: "a scope that does not exist",
    why: "Nobody holds a scope that does not exist: the endpoint would refuse everyone, or the token could \
           do nothing.",
    environment: &[],
    fails: r#"endpoints:
  files_list: {scopes: ["files:reed", "system:read"]}
"#,
    mended: r#"endpoints:
  files_list: {scopes: ["files:read", "system:read"]}
"#,
};
