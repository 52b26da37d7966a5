//! The browser: one Chromium for the whole server, started at first use, with a context of its own for each identity.
//! Knows nothing of HTTP.
//!
//! [`Browsers::visit`] gives a caller the page of its identity, alone for as long as the [`Visit`] lasts. What crashed or
//! hung is replaced at the next visit; a browser that nobody uses ends; one whose server dies, in whatever way, ends with
//! the pipes that it is driven through. Everything that a page loads goes through the proxy of its identity.
//!
//! | module | |
//! |---|---|
//! | `find`, `flags`, `profile` | which program, its command line, its folder |
//! | `instance` | one running browser |
//! | `cdp` | the protocol over its pipes |
//! | `lobby` | what arrives in it: pages, windows, workers |
//! | `page` | one page, and all that can be done to it |
//! | `console` | what a page has said |
//! | `fence` | which URLs the pages of an identity may load |
//! | `proxy` | where that is enforced |
//! | `tenant` | one identity: its turn, its console, its proxy, its page |

mod cdp;
mod console;
mod error;
mod fence;
mod find;
mod flags;
mod instance;
mod lobby;
mod page;
mod profile;
mod proxy;
mod tenant;

pub use console::{Console, Line};
pub use error::BrowserError;
pub use page::{Content, Evaluated, Loaded, Page, Paper, Picture, PictureKind, Printed, Shot, Stage, Typing};
pub use tenant::Visit;

use crate::app::App;
use crate::process::Owner;
use instance::Browser;
use proxy::Proxy;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tenant::Tenant;

/// How long a browser that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(1800);

/// The one browser of a server, and the identities that use it.
#[derive(Debug)]
pub struct Browsers {
    /// The program that `ABX_BROWSER` names.
    named: Option<String>,
    idle: Duration,
    running: tokio::sync::Mutex<Option<Arc<Browser>>>,
    tenants: std::sync::Mutex<HashMap<Owner, Arc<Tenant>>>,
    /// Ports of all proxies, which last as long as this does.
    ports: std::sync::Mutex<Vec<u16>>,
}

impl Browsers {
    /// Starts nothing yet. `named` is the program to use instead of the first that is found.
    #[must_use]
    pub fn new(named: Option<String>) -> Self {
        Self {
            named,
            idle: IDLE,
            running: tokio::sync::Mutex::default(),
            tenants: std::sync::Mutex::default(),
            ports: std::sync::Mutex::default(),
        }
    }

    /// The same with another time until an unused browser ends.
    #[must_use]
    pub fn idle_after(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// The page of `who`, once its other calls are done. Starts what must be started.
    ///
    /// # Errors
    /// [`BrowserError::Unavailable`] or [`BrowserError::Ended`].
    pub async fn visit(&self, app: &Arc<App>, who: &str) -> Result<Visit, BrowserError> {
        let (tenant, app) = (self.tenant(app, who), Arc::clone(app));
        let seat = tenant.turn().await;
        // A caller who leaves must not leave half a browser behind: what has begun to start is started.
        let visit = tokio::spawn(async move { tenant.visit(seat, &app).await });
        visit.await.unwrap_or(Err(BrowserError::Ended("The browser has ended; the next call starts another")))
    }

    /// Whether a proxy listens on that port.
    #[must_use]
    pub fn owns_port(&self, port: u16) -> bool {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).contains(&port)
    }

    /// A proxy has been opened.
    fn opened(&self, proxy: &Proxy) {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).extend(proxy.ports());
    }

    fn tenant(&self, app: &Arc<App>, who: &str) -> Arc<Tenant> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tenant) = tenants.get(who) {
            return Arc::clone(tenant);
        }
        let owner = Owner::from(who);
        let tenant = Arc::new(Tenant::new(app, Arc::clone(&owner)));
        tenants.insert(owner, Arc::clone(&tenant));
        tenant
    }

    /// The browser that runs, or a new one.
    async fn running(&self, app: &Arc<App>) -> Result<Arc<Browser>, BrowserError> {
        let mut running = self.running.lock().await;
        if let Some(browser) = running.as_ref().filter(|browser| browser.is_alive()) {
            return Ok(Arc::clone(browser));
        }
        let browser = Browser::start(&app.processes, self.named.as_deref()).await?;
        tokio::spawn(end_when_idle(Arc::clone(&browser), self.idle));
        *running = Some(Arc::clone(&browser));
        Ok(browser)
    }
}

/// Ends a browser that nobody has used for that long.
async fn end_when_idle(browser: Arc<Browser>, idle: Duration) {
    while browser.is_alive() {
        match idle.checked_sub(browser.idle()) {
            Some(left) if !left.is_zero() => {
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = browser.connection.closed() => {}
                }
            }
            _ => browser.end(),
        }
    }
}

#[cfg(test)]
mod tests;
