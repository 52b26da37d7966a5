//! `environment-opens-closed-group`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "environment-opens-closed-group",
    severity: Severity::Warning,
    summary: "a group that the policy closes is opened by the environment",
    why: "`ABX_SERVER_ENABLED_GROUPS` is a later layer and as specific as `groups:`. Only a glob or an \
           exact id closes so that it cannot open.",
    environment: &[("ABX_SERVER_ENABLED_GROUPS", "browser")],
    fails: r"groups:
  browser: false
",
    mended: r#"endpoints:
  "browser_*": {enabled: false}
"#,
};
