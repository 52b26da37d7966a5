//! `interpreter-in-allow-commands`

use crate::diag::{Page, Severity};

pub(super) const PAGE: Page = Page {
    name: "interpreter-in-allow-commands",
    severity: Severity::Warning,
    summary: "an allow-list names a program that runs other programs",
    why: "Whoever may run a shell, an interpreter, `env`, `find` or `git` may run everything: the list is \
           no boundary.",
    environment: &[],
    fails: r"endpoints:
  shell:
    params: {allow_commands: [ls, bash]}
",
    mended: r"endpoints:
  shell:
    params: {allow_commands: [ls, cat]}
",
};
