//! The author's words within ours: between backticks, short, and harmless to a terminal.

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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn input_is_shown_as_it_is_but_for_what_a_terminal_would_obey() {
        assert_eq!(quoted("files_*"), "`files_*`");
        assert_eq!(quoted("端点 'x' \"y\""), "`端点 'x' \"y\"`");
        assert_eq!(quoted("a\u{1b}[31m\n\u{202e}"), "`a\\u{1b}[31m\\n\\u{202e}`");
        assert_eq!(quoted(&"é".repeat(100)), format!("`{}…`", "é".repeat(60)));
    }
}
