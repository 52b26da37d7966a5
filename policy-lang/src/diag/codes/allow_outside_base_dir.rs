//! `allow-outside-base-dir`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "allow-outside-base-dir",
    severity: Severity::Warning,
    summary: "an allowed path that is not beneath `base_dir`",
    why: "A present `paths.allow` is exactly what it says, so this opens a place outside the directory \
           that the policy names as its own.",
    environment: &[],
    fails: r"preset: read-only
base_dir: /home/user
endpoints:
  files_list:
    paths: {allow: [/srv/data]}
",
    mended: r"preset: read-only
base_dir: /srv
endpoints:
  files_list:
    paths: {allow: [/srv/data]}
",
};
