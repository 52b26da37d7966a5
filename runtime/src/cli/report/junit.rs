//! Findings as a JUnit file: one test case a finding, plus one that passes where an input has none, and one a
//! check that was not made.

use super::{Finding, Report};
use std::fmt::Write;

/// The XML document.
pub(in crate::cli) fn render(report: &Report) -> String {
    let mut cases = String::new();
    let (mut tests, mut failures) = (0, 0);
    for finding in &report.findings {
        tests += 1;
        failures += usize::from(fails(report, finding));
        case(&mut cases, report, finding);
    }
    for input in &report.inputs {
        let found =
            |finding: &Finding| finding.primary.as_ref().is_some_and(|place| place.file == input.name);
        if !report.findings.iter().any(found) {
            tests += 1;
            let _ = writeln!(cases, "    <testcase classname=\"{}\" name=\"clean\"/>", escape(&input.name));
        }
    }
    for skipped in &report.skipped_checks {
        tests += 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{}\" name=\"{}\">\n      <skipped message=\"{}\"/>\n    </testcase>",
            report.command,
            skipped.check,
            escape(&skipped.why)
        );
    }
    let mut errors = 0;
    if let Some(message) = &report.message {
        tests += 1;
        errors = 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{}\" name=\"{}\">\n      <error message=\"{}\"/>\n    </testcase>",
            report.command,
            report.verdict,
            escape(message)
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\" skipped=\"{}\">\n{cases}  </testsuite>\n</testsuites>\n",
        report.command,
        report.skipped_checks.len()
    )
}

fn fails(report: &Report, finding: &Finding) -> bool {
    finding.level == "error" || (report.strict && finding.level == "warning")
}

fn case(out: &mut String, report: &Report, finding: &Finding) {
    let (file, name) = match &finding.primary {
        Some(place) => (
            place.file.as_str(),
            format!("{} at {}:{}:{}", finding.code, place.file, place.line, place.column),
        ),
        None => (report.command, finding.code.to_owned()),
    };
    let _ = writeln!(out, "    <testcase classname=\"{}\" name=\"{}\">", escape(file), escape(&name));
    let help = finding.help.as_deref().unwrap_or_default();
    if fails(report, finding) {
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            finding.code,
            escape(&finding.message),
            escape(help)
        );
    } else {
        let _ =
            writeln!(out, "      <system-out>{}: {}</system-out>", finding.level, escape(&finding.message));
    }
    out.push_str("    </testcase>\n");
}

/// Escapes text for elements and attributes; what XML 1.0 cannot hold at all becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn escapes_markup_and_replaces_what_xml_cannot_hold() {
        assert_eq!(escape("a<b>&\"\n\u{1}"), "a&lt;b&gt;&amp;&quot;&#10;\u{fffd}");
    }
}
