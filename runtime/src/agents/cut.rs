//! Cutting text between characters.

/// The first `most` bytes of a text, or a little less.
pub(super) fn head(text: &str, most: usize) -> &str {
    (0..=most.min(text.len())).rev().find_map(|at| text.get(..at)).unwrap_or_default()
}

/// The last `most` bytes of a text, or a little less.
pub(super) fn tail(text: &str, most: usize) -> &str {
    (text.len().saturating_sub(most)..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{head, tail};

    #[test]
    fn characters_stay_whole() {
        assert_eq!((head("aé€", 5), head("aé€", 6), head("aé€", 0)), ("aé", "aé€", ""));
        assert_eq!((tail("aé€", 4), tail("aé€", 5), tail("aé€", 9)), ("€", "é€", "aé€"));
    }
}
