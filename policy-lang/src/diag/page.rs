//! The reference page of a code, as Markdown for the documentation and as text for a terminal.

use std::fmt::Write as _;

use super::{CODES, Severity, page};

/// What is said about a code, and the two documents that show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The code as printed.
    pub name: &'static str,
    /// How bad, unless a level says otherwise.
    pub severity: Severity,
    /// What is wrong, as a phrase.
    pub summary: &'static str,
    /// Why it matters, in sentences.
    pub why: &'static str,
    /// Variables that the examples suppose; every other is unset.
    pub environment: &'static [(&'static str, &'static str)],
    /// A document that has this finding and no other.
    pub fails: &'static str,
    /// The same document without it.
    pub mended: &'static str,
}

impl Page {
    /// The page as Markdown, under a heading of the second level.
    #[must_use]
    pub fn markdown(&self) -> String {
        let Self { name, summary, why, fails, mended, .. } = self;
        let severity = self.severity.as_str();
        let mut out = format!("## `{name}`\n\n*{severity}*: {summary}\n\n{why}\n\n");
        for (variable, value) in self.environment {
            let _ = writeln!(out, "With `{variable}={value}` in the environment.\n");
        }
        let _ = write!(out, "This fails:\n\n```yaml\n{fails}```\n\nMended:\n\n```yaml\n{mended}```\n");
        out
    }

    /// The page as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{}[{}]: {}\n\n", self.severity.as_str(), self.name, self.summary);
        fold(&mut out, self.why);
        for (variable, value) in self.environment {
            let _ = write!(out, "\nWith {variable}={value} in the environment.\n");
        }
        for (title, document) in [("This fails", self.fails), ("Mended", self.mended)] {
            let _ = write!(out, "\n{title}:\n\n");
            for line in document.lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }
}

/// Every page as one Markdown document.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from("# Diagnostics\n");
    for code in CODES {
        out.push('\n');
        out.push_str(&page(*code).markdown());
    }
    out
}

/// Breaks a paragraph into lines of at most 80 characters.
fn fold(out: &mut String, paragraph: &str) {
    let mut column = 0;
    for word in paragraph.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 80 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::{Code, page};
    use super::*;

    #[test]
    fn a_page_reads_well_in_both_forms() {
        let page = page(Code::EnvironmentOpensClosedGroup);
        assert_eq!(
            page.text(),
            "\
warning[environment-opens-closed-group]: a group that the policy closes is opened by the environment

`ABX_SERVER_ENABLED_GROUPS` is a later layer and as specific as `groups:`. Only
a glob or an exact id closes so that it cannot open.

With ABX_SERVER_ENABLED_GROUPS=browser in the environment.

This fails:

    groups:
      browser: false

Mended:

    endpoints:
      \"browser_*\": {enabled: false}
"
        );
        let markdown = page.markdown();
        assert!(markdown.starts_with("## `environment-opens-closed-group`\n\n*warning*: a group"));
        assert!(markdown.contains("```yaml\ngroups:\n  browser: false\n```\n"));
    }

    #[test]
    fn the_reference_has_every_page() {
        assert_eq!(reference().matches("\n## `").count(), CODES.len());
    }
}
