//! Finds an element, and clicks it.

use super::super::error::BrowserError;
use super::{Page, selector};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const FIND: &str = include_str!("../script/find.js");

/// Where an element is, or why it cannot be used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    why: Option<String>,
    bad: Option<String>,
}

impl Page {
    /// Waits for an element that can be used as `want` says (see `find.js`).
    pub(super) async fn find(
        &self,
        selector: &str,
        want: &str,
        clear: bool,
        time: Duration,
    ) -> Result<Found, BrowserError> {
        let steps = selector::parse(selector)?;
        let arguments = [json!(steps), json!(want), json!(clear), json!(time.as_millis() as u64)];
        let found: Found = self.run(FIND, &arguments).await?;
        if let Some(bad) = found.bad {
            return Err(BrowserError::Selector(format!("selector: {bad}")));
        }
        match found.why {
            Some(why) => {
                let milliseconds = time.as_millis();
                Err(BrowserError::TimedOut(format!("Timed out after {milliseconds} ms: {why}")))
            }
            None => Ok(found),
        }
    }

    /// Clicks the middle of an element, once it is visible, holds still and nothing is in front of it.
    ///
    /// # Errors
    /// [`BrowserError::Selector`], or [`BrowserError::TimedOut`] with what kept it from being clicked.
    pub async fn click(&self, selector: &str, time: Duration) -> Result<(), BrowserError> {
        let at = self.find(selector, "click", false, time).await?;
        let event = |kind: &str, buttons: u8| json!({ "type": kind, "x": at.x, "y": at.y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.about_to_act();
        let moved = json!({ "type": "mouseMoved", "x": at.x, "y": at.y });
        self.tell("Input.dispatchMouseEvent", moved);
        self.tell("Input.dispatchMouseEvent", event("mousePressed", 1));
        self.act("Input.dispatchMouseEvent", event("mouseReleased", 0)).await?;
        self.settle().await
    }
}
