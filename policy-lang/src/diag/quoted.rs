//! The author's words within ours: between backticks, short, and harmless to a terminal.

use std::borrow::Cow;

/// Characters of the input that a message repeats.
const MAX_CHARS: usize = 60;

/// Input as a message shows it: in backticks, cut after [`MAX_CHARS`], control and invisible characters escaped.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == MAX_CHARS {
            out.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    out.push('`');
    out
}

/// A text that may hold the author's words, harmless to a terminal: controls but line breaks, and what turns the
/// direction of writing or cannot be seen, are escaped.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_harmful(character) {
            out.extend(character.escape_debug());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// The same on one line: a text such as the name of a file, where a line break would begin what looks like a line of ours.
#[must_use]
pub fn harmless_line(text: &str) -> Cow<'_, str> {
    match harmless(text) {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', "\\n")),
        text => text,
    }
}

/// Whether a terminal would obey the character, or a reader not see it; line breaks apart.
pub(crate) fn is_harmful(character: char) -> bool {
    let hidden = matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
    hidden || character.is_control() && character != '\n'
}

#[cfg(test)]
mod tests {
    use super::{harmless, harmless_line, quoted};

    #[test]
    fn a_text_keeps_its_lines_and_loses_what_a_terminal_would_obey() {
        assert_eq!(harmless("端点\n  `a`: \"e\u{301}\""), "端点\n  `a`: \"e\u{301}\"");
        assert_eq!(harmless_line("a\nb: \u{1b}c\r"), "a\\nb: \\u{1b}c\\r");
        assert_eq!(harmless("[a\tb, \u{1b}7\u{9b}] \u{202e}"), "[a\\tb, \\u{1b}7\\u{9b}] \\u{202e}");
    }

    #[test]
    fn input_is_shown_as_it_is_but_for_what_a_terminal_would_obey() {
        assert_eq!(quoted("files_*"), "`files_*`");
        assert_eq!(quoted("端点 'x' \"y\""), "`端点 'x' \"y\"`");
        assert_eq!(quoted("a\u{1b}[31m\n\u{202e}"), "`a\\u{1b}[31m\\n\\u{202e}`");
        assert_eq!(quoted(&"é".repeat(100)), format!("`{}…`", "é".repeat(60)));
    }
}
