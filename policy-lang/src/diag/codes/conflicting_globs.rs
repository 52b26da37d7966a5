//! `conflicting-globs`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "conflicting-globs",
    severity: Severity::Error,
    summary: "two globs of one layer say different values for the same endpoint and key",
    why: "A tighter glob is no more specific than a wider one, and the order in a file means nothing, so \
           neither can win. Say the value under the exact id.",
    environment: &[],
    fails: r#"endpoints:
  "files_*": {limits: {rate_per_minute: 60}}
  "*_stream": {limits: {rate_per_minute: 30}}
"#,
    mended: r#"endpoints:
  "files_*": {limits: {rate_per_minute: 60}}
  shell_stream: {limits: {rate_per_minute: 30}}
"#,
};
