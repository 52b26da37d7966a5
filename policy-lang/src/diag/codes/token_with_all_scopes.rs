//! `token-with-all-scopes`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "token-with-all-scopes",
    severity: Severity::Warning,
    summary: "a token holds the scope `*`",
    why: "It holds every scope there is and every one that a later version adds.",
    environment: &[],
    fails: r#"auth:
  tokens:
    - id: admin
      scopes: ["*"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
"#,
    mended: r#"auth:
  tokens:
    - id: admin
      scopes: ["files:read", "files:write", "files:delete"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
"#,
};
