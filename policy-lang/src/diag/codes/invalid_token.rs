//! `invalid-token`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-token",
    severity: Severity::Error,
    summary: "a token that is incomplete or cannot be one",
    why: "A token without a secret would let nobody in, or everybody. Its secret is named by `token_env`, \
           or known by its SHA-256.",
    environment: &[],
    fails: r#"auth:
  tokens:
    - {id: ci, scopes: ["files:read"]}
"#,
    mended: r#"auth:
  tokens:
    - id: ci
      scopes: ["files:read"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
"#,
};
