//! Comments that set a level, as they are written.

use crate::diag::{CODES, Code, Diagnostic, Level, Levels, quoted, suggest};
use crate::parse::Layout;
use crate::source::{SourceId, Span};

/// What every such comment begins with, after the `#`.
const MARK: &str = "abx:";

/// The levels by their words.
const LEVELS: [(&str, Level); 3] = [("allow", Level::Allow), ("warn", Level::Warn), ("deny", Level::Deny)];

/// A comment that sets the level of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// The comment, from its `#` to the end of the line.
    pub span: Span,
    /// The code.
    pub code: Code,
    /// What its findings are worth there.
    pub level: Level,
    /// Why.
    pub reason: String,
}

/// The directives of a text in written order, and what is wrong with those that are none. JSON has no comments.
#[must_use]
pub fn directives(source: SourceId, text: &str) -> (Vec<Directive>, Vec<Diagnostic>) {
    let (mut read, mut found) = (Vec::new(), Vec::new());
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return (read, found);
    }
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    for range in Layout::of(text).comments {
        let span = Span { source, start: offset(range.start), end: offset(range.end) };
        let Some(said) = text.get(range).and_then(said) else { continue };
        match directive(span, said) {
            Ok(directive) => read.push(directive),
            Err(finding) => found.push(*finding),
        }
    }
    (read, found)
}

/// What stands behind the mark of a comment.
fn said(comment: &str) -> Option<&str> {
    comment.trim_start_matches('#').trim_start().strip_prefix(MARK).map(str::trim)
}

fn directive(span: Span, said: &str) -> Result<Directive, Box<Diagnostic>> {
    let mut words = said.splitn(3, char::is_whitespace);
    let (word, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let reason = words.next().unwrap_or_default().trim();
    let fault = |message: String, help: String| {
        Box::new(Diagnostic::new(Code::InvalidLintLevel, message).at(span).help(help))
    };
    let Some((_, level)) = LEVELS.into_iter().find(|(known, _)| *known == word) else {
        let near = suggest::closest(word, LEVELS.map(|(known, _)| known));
        return Err(fault(
            format!("{} is no level", quoted(word)),
            near.first().map_or_else(
                || "the levels are `allow`, `warn` and `deny`: `# abx: allow CODE REASON`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    };
    let Some(code) = Code::from_name(name) else {
        let near = suggest::closest(name, CODES.iter().map(|code| code.as_str()));
        let message = match name {
            "" => "the comment names no code".to_owned(),
            _ => format!("unknown code {}", quoted(name)),
        };
        let help = near.first().map_or_else(
            || "`agent-sandbox-server rule --all` lists every code".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(fault(message, help));
    };
    // A name of a newer server is for whoever runs the check to allow, not for the document itself.
    if level != Level::Deny
        && (!Levels::may_be_lowered(code) || code.severity() == crate::diag::Severity::Error)
    {
        return Err(fault(
            format!("`{name}` is an error of the language and cannot be lowered"),
            "mend what it finds, and remove the comment".to_owned(),
        ));
    }
    if reason.is_empty() {
        return Err(fault(
            format!("the comment gives no reason why `{name}` is set to `{word}`"),
            format!("say why: `# abx: {word} {name} REASON`"),
        ));
    }
    Ok(Directive { span, code, level, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(Code, Level, String)>, Vec<String>) {
        let (read, found) = directives(SourceId(0), text);
        let read = read.into_iter().map(|one| (one.code, one.level, one.reason)).collect();
        (read, found.into_iter().map(|finding| finding.message).collect())
    }

    #[test]
    fn a_comment_sets_a_level_and_text_does_not() {
        let (read, found) = read(concat!(
            "# abx: allow dead-rule kept for the next version\n",
            "a: '# abx: allow dead-rule no comment'\n",
            "b: 1 #abx: deny half-open-pair we mean it\n",
            "c: |\n  # abx: allow dead-rule no comment either\n",
        ));
        assert_eq!(found, [""; 0]);
        assert_eq!(
            read,
            [
                (Code::DeadRule, Level::Allow, "kept for the next version".to_owned()),
                (Code::HalfOpenPair, Level::Deny, "we mean it".to_owned()),
            ]
        );
    }

    #[test]
    fn what_sets_no_level_is_said() {
        let (read, found) = read(concat!(
            "# abx: alow dead-rule x\n# abx: allow dead-rul x\n# abx: allow unknown-key x\n",
            "# abx: allow dead-rule\n# abx: allow\n# abx:\n# about abx: nothing\na: 1\n",
        ));
        assert_eq!(read, []);
        assert_eq!(
            found,
            [
                "`alow` is no level",
                "unknown code `dead-rul`",
                "`unknown-key` is an error of the language and cannot be lowered",
                "the comment gives no reason why `dead-rule` is set to `allow`",
                "the comment names no code",
                "`` is no level",
            ]
        );
    }
}
