//! `key-has-no-effect`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "key-has-no-effect",
    severity: Severity::Warning,
    summary: "a key under a selector none of whose endpoints takes it",
    why: "The author believes that something is limited which is not.",
    environment: &[],
    fails: r"endpoints:
  files_stat:
    limits: {max_bytes: 5MB}
",
    mended: r"endpoints:
  download:
    limits: {max_bytes: 5MB}
",
};
