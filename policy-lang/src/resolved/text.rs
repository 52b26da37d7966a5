//! A text that lists are parts of. That of a compiled set may come later than its lists: when somebody asks for it.

use crate::form::FormError;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Brings a text, once.
type Later = Box<dyn FnOnce() -> Result<String, FormError> + Send>;

/// A text that others hold parts of.
#[derive(Default)]
pub(crate) struct Text {
    held: OnceLock<Result<String, FormError>>,
    later: Mutex<Option<Later>>,
}

impl Text {
    /// A text that `later` brings to the first who asks.
    pub(crate) fn later(later: impl FnOnce() -> Result<String, FormError> + Send + 'static) -> Self {
        Self { held: OnceLock::new(), later: Mutex::new(Some(Box::new(later))) }
    }

    /// The text; empty where it could not be brought.
    pub(crate) fn as_str(&self) -> &str {
        self.get().map_or("", String::as_str)
    }

    /// The text.
    ///
    /// # Errors
    /// Why it could not be brought.
    pub(crate) fn get(&self) -> Result<&String, &FormError> {
        self.held.get_or_init(|| self.bring()).as_ref()
    }

    /// The text as far as it is here.
    pub(super) fn here(&self) -> &str {
        self.held.get().and_then(|held| held.as_ref().ok()).map_or("", String::as_str)
    }

    fn bring(&self) -> Result<String, FormError> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner).take();
        later.map_or_else(|| Ok(String::new()), |later| later())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { held: OnceLock::from(Ok(text)), later: Mutex::default() }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Text").field(&self.held.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Text;
    use crate::form::FormError;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_text_is_brought_once_and_to_all_who_ask() {
        static BROUGHT: AtomicU32 = AtomicU32::new(0);
        let text = Text::later(|| {
            BROUGHT.fetch_add(1, Ordering::Relaxed);
            Ok("text".to_owned())
        });
        assert_eq!(text.here(), "");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(text.as_str(), "text"));
            }
        });
        assert_eq!((text.here(), BROUGHT.load(Ordering::Relaxed)), ("text", 1));
    }

    #[test]
    fn a_text_that_cannot_be_brought_is_empty_and_says_why() {
        let text = Text::later(|| Err(FormError::Checksum));
        assert_eq!((text.as_str(), text.get(), text.here()), ("", Err(&FormError::Checksum), ""));
    }
}
