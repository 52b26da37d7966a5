//! `token-env-unset`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "token-env-unset",
    severity: Severity::Warning,
    summary: "the variable that holds a token's secret is not set",
    why: "A server started like this refuses to start. Where the policy is checked the variable is often \
           absent, which is why this is a warning.",
    environment: &[],
    fails: r#"auth:
  tokens:
    - {id: ci, scopes: ["files:read"], token_env: CI_TOKEN}
"#,
    mended: r#"auth:
  tokens:
    - id: ci
      scopes: ["files:read"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
"#,
};
