//! Types a text into an element, key by key.

use super::super::error::BrowserError;
use super::{Page, keys};
use serde_json::json;
use std::time::Duration;

/// What to type, and how.
#[derive(Debug)]
pub struct Typing<'a> {
    /// Into which element.
    pub selector: &'a str,
    /// The text.
    pub text: &'a str,
    /// How long to wait between two keys.
    pub delay: Duration,
    /// Whether what is there is removed first.
    pub clear: bool,
    /// How long the element may take to be ready.
    pub time: Duration,
}

/// Keys that are sent before one is waited for.
const BATCH: usize = 64;

impl Page {
    /// Types. A character that is on no key is put in as it is.
    ///
    /// # Errors
    /// As [`Page::click`].
    pub async fn type_text(&self, typing: &Typing<'_>) -> Result<(), BrowserError> {
        self.find(typing.selector, "type", typing.clear, typing.time).await?;
        self.about_to_act();
        let (mut sent, mut characters) = (0, typing.text.chars().peekable());
        while let Some(character) = characters.next() {
            if sent > 0 && !typing.delay.is_zero() {
                tokio::time::sleep(typing.delay).await;
            }
            sent += 1;
            let (method, params) = match keys::of(character) {
                Some(key) => {
                    self.tell("Input.dispatchKeyEvent", key.down());
                    ("Input.dispatchKeyEvent", key.up())
                }
                None => ("Input.insertText", json!({ "text": character.to_string() })),
            };
            // The last one too: what it leads to must have been told before the page is asked whether it moves.
            if sent % BATCH == 0 || characters.peek().is_none() {
                self.act(method, params).await?;
            } else {
                self.tell(method, params);
            }
        }
        self.settle().await
    }
}
