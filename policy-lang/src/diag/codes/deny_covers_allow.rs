//! `deny-covers-allow`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "deny-covers-allow",
    severity: Severity::Warning,
    summary: "an allowed path that a deny takes away again as a whole",
    why: "Deny beats allow, whichever is the more exact. The allowed entry has no effect.",
    environment: &[],
    fails: r"preset: read-only
endpoints:
  files_list:
    paths:
      allow: [/home/user/out, /home/user/in]
      deny: [/home/user/out]
",
    mended: r"preset: read-only
endpoints:
  files_list:
    paths:
      allow: [/home/user/out, /home/user/in]
      deny: [/home/user/out/private]
",
};
