//! `invalid-path`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-path",
    severity: Severity::Error,
    summary: "a path that cannot be a boundary",
    why: "`/`, `/proc`, `/sys` and `/dev` reach beyond any sandbox, and a relative `base_dir` would mean \
           another place wherever the server is started.",
    environment: &[],
    fails: r"base_dir: /
",
    mended: r"base_dir: /home/user
",
};
