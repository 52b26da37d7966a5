//! `syntax`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "syntax",
    severity: Severity::Error,
    summary: "the text is not well-formed YAML or JSON, or not one document of text keys",
    why: "A reader that guesses what was meant would serve another policy than the one written. Selectors \
           that begin with `*`, `{`, `[` or `@` mean something else in YAML, so they stand in quotes.",
    environment: &[],
    fails: r"endpoints:
  *: {audit: deny}
",
    mended: r#"endpoints:
  "*": {audit: deny}
"#,
};
