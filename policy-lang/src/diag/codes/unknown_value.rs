//! `unknown-value`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "unknown-value",
    severity: Severity::Error,
    summary: "a word that is none of those that the key takes",
    why: "The key takes one of a closed set of words, and there is no default that would be a safe reading \
           of another.",
    environment: &[],
    fails: r"defaults: {audit: denied}
",
    mended: r"defaults: {audit: deny}
",
};
