//! `no-tests`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "no-tests",
    severity: Severity::Error,
    summary: "a suite of policy tests that holds none",
    why: "A run of nothing succeeds, and a job that was meant to guard the policy guards nothing.",
    environment: &[],
    fails: r#"server:
  endpoints: {shell: false}
server_tests: []
"#,
    mended: r#"server:
  endpoints: {shell: false}
server_tests:
  - request: shell
    expect: deny
"#,
};
