//! `exec-without-auth`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "exec-without-auth",
    severity: Severity::Warning,
    summary: "the policy opens what runs programs, and asks nobody for a token",
    why: "Whoever reaches the port can run what it likes.",
    environment: &[],
    fails: r"endpoints:
  code_run: {enabled: true}
",
    mended: r#"endpoints:
  code_run: {enabled: true}
auth:
  tokens:
    - id: agent
      scopes: ["devtools:run"]
      token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
"#,
};
