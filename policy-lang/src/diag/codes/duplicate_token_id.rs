//! `duplicate-token-id`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "duplicate-token-id",
    severity: Severity::Error,
    summary: "two tokens have the same id",
    why: "The audit log names callers by the id of their token; two with one id cannot be told apart.",
    environment: &[],
    fails: r#"auth:
  tokens:
    - id: ci
      scopes: ["files:read"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    - id: ci
      scopes: ["files:write"]
      token_sha256: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
"#,
    mended: r#"auth:
  tokens:
    - id: ci-read
      scopes: ["files:read"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    - id: ci-write
      scopes: ["files:write"]
      token_sha256: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
"#,
};
