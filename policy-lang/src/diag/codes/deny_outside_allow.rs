//! `deny-outside-allow`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "deny-outside-allow",
    severity: Severity::Warning,
    summary: "a denied path below nothing that is allowed",
    why: "The path is refused already, because no rule allows it. Often the directory was moved and the deny \
           was forgotten, and then what it was to protect is open.",
    environment: &[],
    fails: r#"preset: transfer-only
endpoints:
  download:
    paths: {allow: [/home/user/out], deny: [/home/user/data/keys]}
"#,
    mended: r#"preset: transfer-only
endpoints:
  download:
    paths: {allow: [/home/user/out], deny: [/home/user/out/keys]}
"#,
};
