//! `wrong-type`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "wrong-type",
    severity: Severity::Error,
    summary: "a value of another kind than the key takes",
    why: "Nothing is coerced: text in quotes never becomes a boolean or a number, `yes` and `off` are \
           text, and null is no value.",
    environment: &[],
    fails: r#"endpoints:
  shell: {enabled: "false"}
"#,
    mended: r"endpoints:
  shell: {enabled: false}
",
};
