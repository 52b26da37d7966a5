//! Goes to a URL, and says what was found there.

use super::super::cdp::CdpError;
use super::super::error::BrowserError;
use super::super::fence::Trouble;
use super::world::moved_on;
use super::{Page, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// How far a page must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// All of the document has been read.
    Interactive,
    /// All that it names has been loaded.
    Loaded,
    /// Nothing has been loaded for half a second.
    Idle,
}

/// What was found.
#[derive(Debug, Deserialize, Serialize)]
pub struct Loaded {
    /// Where the page is now.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The status of the answer; none for a document that came over no network.
    pub status: Option<u16>,
}

/// `Page.navigate`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// How long the browser may take to put its error page up.
const ERROR_PAGE: Duration = Duration::from_secs(2);

/// How long after a page has announced a navigation it may take to begin; some never do.
const ANNOUNCED: Duration = Duration::from_secs(2);

const DESCRIBE: &str = "() => ({
  url: location.href, title: document.title,
  status: performance.getEntriesByType('navigation')[0]?.responseStatus || null,
})";

impl Page {
    /// Goes to `url` and waits until it is as far as wanted.
    ///
    /// # Errors
    /// [`BrowserError::Refused`] where a rule refuses the URL or one that it leads to, [`BrowserError::Navigation`] where
    /// nothing could be loaded.
    pub async fn navigate(&self, url: &str, stage: Stage) -> Result<Loaded, BrowserError> {
        self.fence.forget_troubles();
        let place = self.fence.place(url).await.map_err(|trouble| told(trouble, url))?;
        let url = place.url().as_str();
        let answer: Navigated = self.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(error) = &answer.error_text {
            return Err(self.failed(url, error, &answer).await);
        }
        // Without a loader it was a move within the document, which is there already.
        if let Some(loader) = &answer.loader_id {
            self.until(|state| state.loaders.contains(loader) && state.is(stage)).await?;
        }
        self.run(DESCRIBE, &[]).await
    }

    /// Stops what is loading.
    pub fn stop(&self) {
        self.tell("Page.stopLoading", json!({}));
    }

    /// Why nothing was loaded: what the proxy knows of the URL that was asked for last, or what the browser says.
    async fn failed(&self, url: &str, error: &str, answer: &Navigated) -> BrowserError {
        if answer.is_download {
            return BrowserError::Navigation(format!("{url} is a download, which the browser does not take"));
        }
        let loader = answer.loader_id.as_ref();
        let shown = self.until(|state| state.unreachable.is_some() && state.loaders.back() == loader);
        // Without an error page nothing has taken the place of the document that was there.
        let _ = tokio::time::timeout(ERROR_PAGE, shown).await;
        let last = self.state.borrow().unreachable.clone().unwrap_or_else(|| url.to_owned());
        match self.fence.trouble(&last) {
            Some(trouble) => told(trouble, &last),
            None => BrowserError::Navigation(format!("{error} at {last}")),
        }
    }

    /// After something that may have led elsewhere: waits until the page that it leads to can be worked with.
    pub(super) async fn settle(&self) -> Result<(), BrowserError> {
        // The answer comes after whatever the page had to tell before it.
        self.act("Runtime.evaluate", json!({ "expression": "1" })).await?;
        let begun = self.until(|state| !state.announced);
        if let Ok(ended) = tokio::time::timeout(ANNOUNCED, begun).await {
            ended?;
        }
        self.until(|state| !state.moving).await
    }

    /// Does what may lead elsewhere, and waits for the answer: that the page has gone there before it could answer is one.
    pub(super) async fn act(&self, method: &str, params: serde_json::Value) -> Result<(), BrowserError> {
        match self.call::<serde_json::Value>(method, params).await {
            Err(CdpError::Refused(why)) if moved_on(&why) => Ok(()),
            answered => Ok(answered.map(drop)?),
        }
    }

    /// Something is about to be done that may lead elsewhere; what was announced before does not count.
    pub(super) fn about_to_act(&self) {
        self.state.send_modify(|state| state.announced = false);
    }
}

impl State {
    fn is(&self, stage: Stage) -> bool {
        match stage {
            Stage::Interactive => self.interactive,
            Stage::Loaded => self.loaded,
            Stage::Idle => self.idle && self.loaded,
        }
    }
}

fn told(trouble: Trouble, url: &str) -> BrowserError {
    match trouble {
        Trouble::Refused(rule) => BrowserError::Refused { rule },
        Trouble::Malformed(why) => BrowserError::Url(format!("url: {why}")),
        Trouble::Failed(why) => BrowserError::Navigation(format!("{why}: {}", without_query(url))),
    }
}

/// What follows the `?` may be secret.
fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
