//! `scope-held-by-no-token`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "scope-held-by-no-token",
    severity: Severity::Warning,
    summary: "a rule asks for a scope that no token holds",
    why: "Nobody can call what the rule governs, though it is open. Close it, or give the scope to the token \
           that is to call it.",
    environment: &[],
    fails: r#"endpoints:
  shell: {scopes: ["process:run", "process:manage"]}
auth:
  tokens:
    - {id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["process:run"]}
"#,
    mended: r#"endpoints:
  shell: {scopes: ["process:run", "process:manage"]}
auth:
  tokens:
    - {id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["process:run", "process:manage"]}
"#,
};
