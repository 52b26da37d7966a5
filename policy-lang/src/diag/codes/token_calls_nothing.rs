//! `token-calls-nothing`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "token-calls-nothing",
    severity: Severity::Warning,
    summary: "a token that can call nothing",
    why: "Everything that its scopes reach is closed. Such a token is either a mistake in its scopes or a secret \
           that need not exist.",
    environment: &[],
    fails: r#"preset: locked
auth:
  tokens:
    - {id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["files:read"]}
"#,
    mended: r#"preset: read-only
auth:
  tokens:
    - {id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["files:read"]}
"#,
};
