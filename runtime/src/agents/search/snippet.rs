//! The place of a text in which something was found.

/// Characters before what was found, and of the whole.
const BEFORE: usize = 60;
const LONGEST: usize = 240;

/// A piece of `text` around the first of `wanted` (lower case) that occurs; its beginning where none does.
pub(super) fn snippet(text: &str, wanted: &[String]) -> String {
    let found = wanted.iter().filter_map(|word| find(text, word)).min();
    let at = found.unwrap_or(0);
    let begin =
        text.get(..at).and_then(|head| head.char_indices().rev().nth(BEFORE - 1)).map_or(0, |(at, _)| at);
    let rest = text.get(begin..).unwrap_or_default();
    let end = rest.char_indices().nth(LONGEST).map_or(rest.len(), |(at, _)| at);
    let piece = rest.get(..end).unwrap_or_default();
    let words: Vec<&str> = piece.split_whitespace().collect();
    let (before, after) = (if begin > 0 { "…" } else { "" }, if end < rest.len() { "…" } else { "" });
    format!("{before}{}{after}", words.join(" "))
}

/// Where a word occurs, whatever its case. The place is one of `text`, not of a copy in lower case.
fn find(text: &str, word: &str) -> Option<usize> {
    let mut letters = word.chars();
    let first = letters.next()?;
    let starts = text.char_indices().filter(|(_, character)| lower(*character) == first);
    starts.map(|(at, _)| at).find(|at| {
        let here = text.get(*at..).unwrap_or_default();
        let mut rest = here.chars().map(lower);
        word.chars().all(|letter| rest.next() == Some(letter))
    })
}

fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::snippet;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_place_is_shown() {
        let text = format!("{} İ Needle\nin a haystack {}", "hay ".repeat(100), "straw ".repeat(100));
        let shown = snippet(&text, &words(&["absent", "needle"]));
        assert!(shown.starts_with("…hay hay") || shown.starts_with("…"), "{shown}");
        assert!(shown.contains("İ Needle in a haystack straw"), "{shown}");
        assert!(shown.ends_with('…') && shown.chars().count() <= 242, "{shown}");
    }

    #[test]
    fn short_texts_are_whole() {
        assert_eq!(snippet("a  short\ntext", &words(&["none"])), "a short text");
        assert_eq!(snippet("", &words(&["none"])), "");
    }
}
