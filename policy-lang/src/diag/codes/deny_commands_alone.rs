//! `deny-commands-alone`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "deny-commands-alone",
    severity: Severity::Warning,
    summary: "a deny-list of programs with no allow-list beside it",
    why: "A copy under another name, an interpreter or a script gets around any list of what may not run.",
    environment: &[],
    fails: r"endpoints:
  shell:
    params: {deny_commands: [rm]}
",
    mended: r"endpoints:
  shell:
    params: {allow_commands: [ls, cat]}
",
};
