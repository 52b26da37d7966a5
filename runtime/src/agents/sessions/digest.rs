//! What was said and done so far, in short, for an agent that has no memory of it: the text that goes before the first
//! prompt of a conversation which could not be carried on natively.

/// Bytes that a digest may have.
pub const MOST: usize = 24 * 1024;

/// Bytes of one message; tool calls are one line.
const MOST_OF_ONE: usize = 4 * 1024;

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// By whom: `user`, `agent` or `tool`.
    pub who: &'static str,
    /// What.
    pub text: String,
}

/// The digest, at most `most` bytes: the newest entries whole, the oldest left out. Empty where nothing was said.
#[must_use]
pub fn digest(said: &[Said], most: usize) -> String {
    let lines: Vec<String> = said
        .iter()
        .filter(|said| !said.text.trim().is_empty())
        .map(|said| format!("[{}] {}\n", said.who, cut(said.text.trim(), MOST_OF_ONE)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let room = most.saturating_sub(HEAD.len() + TAIL.len() + LEFT_OUT.len());
    let mut size = 0;
    let kept = lines
        .iter()
        .rev()
        .take_while(|line| {
            size += line.len();
            size <= room
        })
        .count();
    let mut out = HEAD.to_owned();
    if kept < lines.len() {
        out.push_str(LEFT_OUT);
    }
    out.extend(lines.iter().skip(lines.len() - kept).map(String::as_str));
    out.push_str(TAIL);
    out
}

const HEAD: &str = "This continues an earlier conversation. What was said and done, oldest first:\n\n";
const LEFT_OUT: &str = "[earlier entries are left out]\n";
const TAIL: &str = "\nEnd of the summary. Files are as those steps left them. The next message follows.\n";

/// At most `most` bytes, at a character boundary.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} […]", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{HEAD, LEFT_OUT, MOST, Said, TAIL, digest};
    use proptest::prelude::*;

    fn said(who: &'static str, text: &str) -> Said {
        Said { who, text: text.into() }
    }

    #[test]
    fn in_order_and_without_blanks() {
        let text = digest(&[said("user", "do x"), said("agent", " "), said("tool", "edit a.rs\n")], MOST);
        assert_eq!(text, format!("{HEAD}[user] do x\n[tool] edit a.rs\n{TAIL}"));
        assert_eq!(digest(&[said("user", "")], MOST), "");
    }

    #[test]
    fn the_newest_stay() {
        let all: Vec<Said> = (0..1000).map(|n| said("user", &format!("message {n}"))).collect();
        let text = digest(&all, 1024);
        assert!(text.len() <= 1024 && text.contains(LEFT_OUT) && text.contains("[user] message 999\n"));
        assert!(!text.contains("message 0\n"));
    }

    proptest! {
        #[test]
        fn never_longer_than_it_may_be(texts in prop::collection::vec("\\PC{0,80}", 0..40), most in 300usize..4000) {
            let all: Vec<Said> = texts.iter().map(|text| said("agent", text)).collect();
            prop_assert!(digest(&all, most).len() <= most);
        }
    }
}
