//! `languages` and `shells`: words that must be written exactly so.

use super::{Allow, not_allowed};
use crate::policy::ElementRef;

/// A list of exact words.
#[derive(Debug, Clone)]
pub struct WordList(pub Allow<Box<str>>);

impl WordList {
    /// What refuses `word`; none where it is on the list.
    #[must_use]
    pub fn refuses(&self, word: &str) -> Option<ElementRef> {
        not_allowed(Some(&self.0), |entry| **entry == *word)
    }

    /// The words, as listed.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.entries.iter().map(|word| &**word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_word_passes() {
        let list = WordList(Allow { entries: vec!["/bin/sh".into()], origin: ElementRef::BASE });
        assert_eq!(list.refuses("/bin/sh"), None);
        for other in ["sh", "/bin/bash", "/bin/sh -c id", "../bin/sh", "/bin/SH", "/bin//sh", " /bin/sh", ""]
        {
            assert_eq!(list.refuses(other), Some(ElementRef::BASE), "{other}");
        }
        let empty = WordList(Allow { entries: vec![], origin: ElementRef::BASE });
        assert_eq!(empty.refuses("/bin/sh"), Some(ElementRef::BASE));
    }
}
