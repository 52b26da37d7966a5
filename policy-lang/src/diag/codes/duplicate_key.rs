//! `duplicate-key`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "duplicate-key",
    severity: Severity::Error,
    summary: "a key appears twice in the same mapping",
    why: "Most readers let the later key win without a word, so a rule that closes can be undone by a line \
           far below it. Here neither wins.",
    environment: &[],
    fails: r"endpoints:
  shell: {enabled: false}
  shell: {enabled: true}
",
    mended: r"endpoints:
  shell: {enabled: false}
",
};
