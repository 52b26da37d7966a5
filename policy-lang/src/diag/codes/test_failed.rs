//! `test-failed`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "test-failed",
    severity: Severity::Error,
    summary: "a policy test whose call is decided otherwise than it says",
    why: "A test is what its author believes of the policy. Either the belief or the policy is wrong, and \
           nothing else tells which.",
    environment: &[],
    fails: r#"server:
  preset: transfer-only
  endpoints:
    upload: {paths: {allow: [/home/user/in]}}
server_tests:
  - request: {endpoint: upload, path: /home/user/out/a.txt}
    expect: allow
"#,
    mended: r#"server:
  preset: transfer-only
  endpoints:
    upload: {paths: {allow: [/home/user/in]}}
server_tests:
  - request: {endpoint: upload, path: /home/user/out/a.txt}
    expect: {verdict: deny, code: path_not_allowed}
"#,
};
