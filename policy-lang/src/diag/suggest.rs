//! Did you mean: the nearest of the names that are legal at a place.
//!
//! The caller gives the candidates of the place, never all names there are. At most three come back, best first, and
//! none when none is near: a far-fetched suggestion is worse than none.

mod endpoint;

pub use endpoint::{endpoint, is_door};

/// The most suggestions for one mistake.
const MAX_SUGGESTIONS: usize = 3;

/// The longest word that is compared; a longer one is no misspelling of a name.
const MAX_WORD: usize = 80;

/// The nearest candidates: best first, at most three, none when none is near.
///
/// Case and `-` for `_` cost nothing; a plural, swapped words and a missing part of the name cost less than letters do.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if word.is_empty() || word.len() > MAX_WORD {
        return Vec::new();
    }
    let word = Name::new(word);
    let mut found: Vec<(u32, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((word.distance(&Name::new(candidate))?, candidate)))
        .collect();
    found.sort_by_key(|&(distance, _)| distance);
    found.dedup_by_key(|&mut (_, candidate)| candidate);
    let Some(&(best, _)) = found.first() else { return Vec::new() };
    // Beside a good guess the worse ones are noise; where a part of the name is all there is, many are a list.
    let near: Vec<&str> =
        found.iter().take_while(|&&(distance, _)| distance < best + EDIT).map(|&(_, name)| name).collect();
    if best >= PART && near.len() > MAX_SUGGESTIONS {
        return Vec::new();
    }
    near.into_iter().take(MAX_SUGGESTIONS).collect()
}

/// The distance of names that hold the word as a part: more than any number of edits.
const PART: u32 = 100;

/// The distance of one edit; half of it is what a different first letter adds.
const EDIT: u32 = 2;

/// A name as it is compared.
struct Name {
    /// Lower case, with `_` for `-`, blanks and dots.
    text: String,
    /// Its words in the singular, sorted.
    words: Vec<String>,
}

impl Name {
    fn new(name: &str) -> Self {
        let text: String = name
            .trim()
            .chars()
            .flat_map(char::to_lowercase)
            .map(|c| if matches!(c, '-' | ' ' | '.') { '_' } else { c })
            .collect();
        let mut words: Vec<String> =
            text.split(['_', ':']).filter(|word| !word.is_empty()).map(singular).collect();
        words.sort();
        Self { text, words }
    }

    /// How far a candidate is; `None` when it is not near.
    fn distance(&self, candidate: &Self) -> Option<u32> {
        if self.text == candidate.text {
            return Some(0);
        }
        if self.words == candidate.words {
            return Some(1);
        }
        let straight = strsim::osa_distance(&self.text, &candidate.text);
        let sorted = strsim::osa_distance(&self.words.concat(), &candidate.words.concat());
        let edits = straight.min(sorted + 1);
        let length = self.text.chars().count();
        if edits <= limit(length, candidate.text.chars().count()) {
            let first = u32::from(self.text.chars().next() != candidate.text.chars().next());
            return u32::try_from(edits).ok().map(|edits| EDIT + EDIT * edits + first);
        }
        self.is_part_of(candidate).then_some(PART)
    }

    /// Whether the words of this name are some of the candidate's: `upload_stream` of `files_upload_stream`.
    fn is_part_of(&self, candidate: &Self) -> bool {
        let within = self.words.iter().all(|word| candidate.words.contains(word));
        within && self.words.iter().map(String::len).sum::<usize>() >= 4
    }
}

/// The edits that may lie between a word and a name: about a third of the longer, and none for the shortest words.
fn limit(word: usize, name: usize) -> usize {
    match word {
        0..=2 => 0,
        3 => 1,
        _ => (word.max(name) / 3).min(4),
    }
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ => word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests;
