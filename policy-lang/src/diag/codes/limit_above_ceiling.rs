//! `limit-above-ceiling`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "limit-above-ceiling",
    severity: Severity::Warning,
    summary: "a limit that the server never reaches",
    why: "The server has bounds that no policy lifts. A limit above such a bound reads as if more were possible, \
           and is never what refuses a call.",
    environment: &[],
    fails: r#"defaults: {limits: {max_concurrency: 10000}}
"#,
    mended: r#"defaults: {limits: {max_concurrency: 64}}
"#,
};
