//! One identity and its page. Its calls take turns; what it has outlives the browser, except the page itself.

use super::console::Console;
use super::error::BrowserError;
use super::fence::Fence;
use super::instance::{Browser, InUse};
use super::lobby::Resident;
use super::page::Page;
use super::proxy::Proxy;
use crate::app::App;
use crate::process::Owner;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// One identity.
#[derive(Debug)]
pub(super) struct Tenant {
    resident: Arc<Resident>,
    seat: Arc<Mutex<Seat>>,
}

/// What a turn gives access to.
#[derive(Debug, Default)]
pub(super) struct Seat {
    proxy: Option<Proxy>,
    place: Option<Place>,
    /// A visit was broken off, so the page may be busy for ever.
    doubtful: bool,
}

/// The only one there is.
pub(super) type Turn = OwnedMutexGuard<Seat>;

/// A page in a context in a browser.
#[derive(Debug)]
struct Place {
    browser: Arc<Browser>,
    context: String,
    page: Arc<Page>,
}

/// One call's turn: the page is its alone until this is dropped.
#[derive(Debug)]
pub struct Visit {
    seat: Turn,
    page: Arc<Page>,
    console: Arc<Console>,
    _in_use: InUse,
}

impl Tenant {
    pub(super) fn new(app: &Arc<App>, who: Owner) -> Self {
        let console = Arc::default();
        let fence = Arc::new(Fence::new(app, who, None, Arc::clone(&console)));
        Self { resident: Arc::new(Resident::new(console, fence)), seat: Arc::default() }
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) -> Turn {
        Arc::clone(&self.seat).lock_owned().await
    }

    /// The page, for that turn.
    pub(super) async fn visit(&self, mut seat: Turn, app: &Arc<App>) -> Result<Visit, BrowserError> {
        let (page, in_use) = self.page(&mut seat, app).await?;
        page.watch_paths().await?;
        // Until the visit says otherwise: a call that is cut leaves the page in the middle of something.
        seat.doubtful = true;
        Ok(Visit { seat, page, console: Arc::clone(&self.resident.console), _in_use: in_use })
    }

    /// The page that is there, if it can be used, or a new one.
    async fn page(&self, seat: &mut Seat, app: &Arc<App>) -> Result<(Arc<Page>, InUse), BrowserError> {
        if let Some(mut place) = seat.place.take() {
            // Counted first, so that it does not end for being idle just now.
            let in_use = place.browser.visit();
            if place.browser.is_alive() {
                if place.page.is_gone() || (seat.doubtful && !place.page.answers().await) {
                    place.page.close();
                    place.page = place.browser.page(&place.context, &self.resident).await?;
                }
                seat.doubtful = false;
                let page = Arc::clone(&place.page);
                seat.place = Some(place);
                return Ok((page, in_use));
            }
        }
        let browser = app.browsers.running(app).await?;
        let in_use = browser.visit();
        let proxy = match seat.proxy.take() {
            Some(proxy) => proxy,
            None => {
                let failed = |_| BrowserError::Unavailable("The browser's proxy cannot be opened".to_owned());
                let proxy = Proxy::open(Arc::clone(&self.resident.fence)).await.map_err(failed)?;
                app.browsers.opened(&proxy);
                proxy
            }
        };
        let proxy = seat.proxy.insert(proxy);
        let context = browser.context(Arc::clone(&self.resident), proxy).await?;
        let page = browser.page(&context, &self.resident).await?;
        seat.doubtful = false;
        seat.place = Some(Place { browser, context, page: Arc::clone(&page) });
        Ok((page, in_use))
    }
}

impl Visit {
    /// The console of the identity.
    #[must_use]
    pub fn console(&self) -> &Console {
        &self.console
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// The call has come to its end, whatever that was, and the page is not in the middle of anything.
    pub fn done(mut self) {
        self.seat.doubtful = false;
    }

    /// The call was given up: what still runs is stopped, or the page closed, before the next one's turn.
    pub async fn recover(mut self) {
        self.page.stop();
        if self.page.answers().await {
            self.seat.doubtful = false;
        } else {
            self.page.close();
        }
    }
}
