//! `paths-do-not-bind-commands`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "paths-do-not-bind-commands",
    severity: Severity::Warning,
    summary: "path rules beside an endpoint that runs any program",
    why: "Path rules bind the endpoints that take a path. A program reads and writes what the operating \
           system lets it.",
    environment: &[],
    fails: r#"defaults:
  paths: {deny: ["**/.git/**"]}
"#,
    mended: r#"defaults:
  paths: {deny: ["**/.git/**"]}
groups:
  process: false
  terminal: false
"#,
};
