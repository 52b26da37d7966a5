//! `document-too-large`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "document-too-large",
    severity: Severity::Error,
    summary: "the document is past the bounds on size, depth or number of values",
    why: "At most 16 MiB, 64 levels and 1,000,000 values are read, aliases expanded. A few lines of \
           aliases of aliases can stand for more values than a machine holds.",
    environment: &[],
    fails: r"x0: &x0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
x1: &x1 [*x0, *x0, *x0, *x0, *x0, *x0, *x0, *x0, *x0, *x0]
x2: &x2 [*x1, *x1, *x1, *x1, *x1, *x1, *x1, *x1, *x1, *x1]
x3: &x3 [*x2, *x2, *x2, *x2, *x2, *x2, *x2, *x2, *x2, *x2]
x4: &x4 [*x3, *x3, *x3, *x3, *x3, *x3, *x3, *x3, *x3, *x3]
x5: &x5 [*x4, *x4, *x4, *x4, *x4, *x4, *x4, *x4, *x4, *x4]
",
    mended: r"preset: default
",
};
