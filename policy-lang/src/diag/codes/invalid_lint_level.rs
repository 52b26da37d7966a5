//! `invalid-lint-level`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-lint-level",
    severity: Severity::Warning,
    summary: "a comment that sets no level",
    why: "`# abx: allow CODE REASON` leaves a finding out, and `warn` and `deny` raise one. It needs a code that \
           exists and is no error of the language, and a reason for whoever reads it next.",
    environment: &[],
    fails: r#"# abx: allow exec-without-auth
endpoints:
  shell: {limits: {timeout_seconds: 30s}}
auth:
  tokens: [{id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["process:run"]}]
"#,
    mended: r#"endpoints:
  shell: {limits: {timeout_seconds: 30s}}
auth:
  tokens: [{id: ci, token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", scopes: ["process:run"]}]
"#,
};
