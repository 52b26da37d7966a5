//! `test-asserts-nothing`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "test-asserts-nothing",
    severity: Severity::Error,
    summary: "a policy test that no policy could fail",
    why: "A test without an expectation passes whatever the policy says, and looks like cover where there is \
           none.",
    environment: &[],
    fails: r#"server:
  endpoints: {shell: false}
server_tests:
  - request: shell
"#,
    mended: r#"server:
  endpoints: {shell: false}
server_tests:
  - request: shell
    expect: {verdict: deny, code: endpoint_disabled, rule: policy:endpoints.shell}
"#,
};
