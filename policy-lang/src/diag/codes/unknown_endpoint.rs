//! `unknown-endpoint`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-endpoint",
    severity: Severity::Error,
    summary: "a selector names an endpoint that does not exist",
    why: "A rule for an endpoint that does not exist closes nothing. The ids are listed by the command \
           `endpoints`; a path such as `POST /shell` is not an id.",
    environment: &[],
    fails: r"endpoints:
  shel: {enabled: false}
",
    mended: r"endpoints:
  shell: {enabled: false}
",
};
