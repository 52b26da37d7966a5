//! `request-limit-below-file-limit`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "request-limit-below-file-limit",
    severity: Severity::Warning,
    summary: "a body limit that stops a file of the size that the file limit allows",
    why: "A file travels as base64 in JSON and takes a third more than its own size.",
    environment: &[],
    fails: r"endpoints:
  upload:
    limits: {max_bytes: 20MB}
",
    mended: r"endpoints:
  upload:
    limits: {max_bytes: 20MB, max_request_bytes: 28MB}
",
};
