//! What the page holds, as HTML or as the text that is seen.

use super::super::error::BrowserError;
use super::Page;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What it holds.
#[derive(Debug, Deserialize, Serialize)]
pub struct Content {
    /// HTML or text.
    pub content: String,
    /// Where the page is.
    pub url: String,
    /// Its title.
    pub title: String,
}

const READ: &str = "(asText) => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  const whole = () => type + (document.documentElement ? document.documentElement.outerHTML : '');
  const content = asText ? (document.body ? document.body.innerText : '') : whole();
  return { content, url: location.href, title: document.title };
}";

impl Page {
    /// Reads it.
    ///
    /// # Errors
    /// The page or the browser has ended.
    pub async fn content(&self, as_text: bool) -> Result<Content, BrowserError> {
        self.run(READ, &[json!(as_text)]).await
    }
}
