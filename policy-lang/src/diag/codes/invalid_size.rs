//! `invalid-size`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "invalid-size",
    severity: Severity::Error,
    summary: "a size that cannot be read",
    why: "`KB`, `MB`, `GB` and `TB` are powers of 1000, `KiB`, `MiB`, `GiB` and `TiB` of 1024. A bare `M` \
           is read differently by different tools, so it is not read at all.",
    environment: &[],
    fails: r"endpoints:
  upload:
    limits: {max_bytes: 5M}
",
    mended: r"endpoints:
  upload:
    limits: {max_bytes: 5MB}
",
};
