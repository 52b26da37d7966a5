//! `rule-has-no-effect`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "rule-has-no-effect",
    severity: Severity::Warning,
    summary: "a rule that says nothing",
    why: "An empty rule neither opens nor closes. Most often something was to stand in it.",
    environment: &[],
    fails: r"endpoints:
  shell: {}
",
    mended: r"endpoints:
  shell: {enabled: false}
",
};
