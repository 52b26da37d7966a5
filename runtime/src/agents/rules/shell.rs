//! Whether shell text is one plain command, and its parts where it is not.

/// What can start a second command or send output elsewhere. Quotes are not looked at: quoted text that holds one of
/// these counts as if it were not quoted, so that no quoting trick gets past a rule.
const OPERATORS: &[char] = &[';', '&', '|', '<', '>', '(', ')', '`', '\n', '\r'];

/// Whether the text is one simple command: no control operator, no redirection, no substitution.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    !text.contains(OPERATORS) && !text.contains("${")
}

/// Every piece between operators, blanks and leading assignments aside: what a compound text may run.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let openers: &[char] = &['$', '{', '}', '!', '"', '\'', ' ', '\t'];
    text.split(OPERATORS).map(move |piece| piece.trim_matches(openers)).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{is_plain, pieces};

    #[test]
    fn one_command_or_more() {
        for plain in ["ls", "ls -la /tmp", "git commit -m 'a message'", "echo $HOME", ""] {
            assert!(is_plain(plain), "{plain}");
        }
        for compound in [
            "ls; rm x",
            "ls && rm x",
            "ls || rm x",
            "ls | sh",
            "ls & rm x",
            "ls\nrm x",
            "ls $(rm x)",
            "ls `rm x`",
            "echo x > /etc/passwd",
            "cat < x",
            "(rm x)",
            "echo ${x:=1}",
        ] {
            assert!(!is_plain(compound), "{compound}");
        }
    }

    #[test]
    fn pieces_of_a_compound() {
        assert_eq!(pieces("ls; rm x && (cat \"$(id)\")").collect::<Vec<_>>(), ["ls", "rm x", "cat", "id"]);
    }
}
