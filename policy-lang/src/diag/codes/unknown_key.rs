//! `unknown-key`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-key",
    severity: Severity::Error,
    summary: "a key that the language does not have",
    why: "A misspelt key says nothing. Where it was meant to narrow what is allowed, the restriction is \
           lost and the rest of the rule opens more than its author thinks.",
    environment: &[],
    fails: r"endpoints:
  files_list:
    limit: {max_entries: 100}
",
    mended: r"endpoints:
  files_list:
    limits: {max_entries: 100}
",
};
