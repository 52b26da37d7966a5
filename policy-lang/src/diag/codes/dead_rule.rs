//! `dead-rule`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "dead-rule",
    severity: Severity::Info,
    summary: "a rule that changes nothing",
    why: "Without it every endpoint and every key has the same value: another rule says the same, or beats it \
           wherever it speaks. A reader believes that it does something.",
    environment: &[],
    fails: r#"preset: locked
endpoints:
  shell: false
"#,
    mended: r#"preset: locked
"#,
};
