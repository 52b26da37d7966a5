//! `rule-never-wins`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "rule-never-wins",
    severity: Severity::Warning,
    summary: "a value that another rule always beats",
    why: "The greater specificity wins whatever the order in the file: exact id, then glob, then group, \
           then defaults.",
    environment: &[],
    fails: r#"groups:
  file_ops: {limits: {rate_per_minute: 60}}
endpoints:
  "*": {limits: {rate_per_minute: 30}}
"#,
    mended: r"groups:
  file_ops: {limits: {rate_per_minute: 60}}
defaults: {limits: {rate_per_minute: 30}}
",
};
