//! Which URLs the pages of one identity may load: the rules of `browser_navigate`, as they are now, for who that identity
//! is now.
//!
//! The proxy asks for every connection, the pages for every request whose path matters, a navigation for its URL. What
//! was refused or failed is remembered for a while: the browser itself says only that something did not load.

use super::console::Console;
use crate::app::{App, index};
use crate::egress::{EgressError, Judge, Names, Place};
use crate::process::Owner;
use policy_lang::decide::{Decision, Denial, Query, decide};
use policy_lang::endpoint::EndpointId;
use policy_lang::matchers::url::Target;
use policy_lang::policy::ElementRef;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Troubles that are remembered.
const MOST_TROUBLES: usize = 64;

/// The endpoint whose rules hold for everything that a page loads.
const RULES_OF: EndpointId = EndpointId::BrowserNavigate;

/// The fence of one identity.
#[derive(Debug)]
pub(super) struct Fence {
    app: Weak<App>,
    who: Owner,
    names: Option<Arc<dyn Names>>,
    pub(super) console: Arc<Console>,
    troubles: Mutex<VecDeque<(String, Trouble)>>,
}

/// Why something did not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// This rule refuses it.
    Refused(String),
    /// It is no URL that could be opened.
    Malformed(String),
    /// It could not be reached.
    Failed(String),
}

impl Fence {
    /// `console` is told what a page could not find out by itself.
    pub(super) fn new(
        app: &Arc<App>,
        who: Owner,
        names: Option<Arc<dyn Names>>,
        console: Arc<Console>,
    ) -> Self {
        Self { app: Arc::downgrade(app), who, names, console, troubles: Mutex::default() }
    }

    /// Judges a URL and all addresses of its host.
    pub(super) async fn place(&self, url: &str) -> Result<Place, Trouble> {
        let judge = self.judge()?;
        let place = judge.place(url).await;
        place.map_err(|error| self.note(url, trouble(&judge, error)))
    }

    /// Judges scheme, host and port, and all addresses of the host: of a tunnel, where either scheme may be meant.
    pub(super) async fn origin(&self, authority: &str) -> Result<Place, Trouble> {
        let judge = self.judge()?;
        let url = format!("https://{authority}/");
        let place = match judge.origin(&url).await {
            // What it is used for shows later, and is judged then.
            Err(refused @ EgressError::Refused(_)) => {
                judge.origin(&format!("http://{authority}/")).await.map_err(|_| refused)
            }
            place => place,
        };
        place.map_err(|error| self.note(&url, trouble(&judge, error)))
    }

    /// Judges scheme, host and port of a tunnel that turned out to be encrypted: its requests are judged by the page.
    pub(super) fn encrypted(&self, authority: &str) -> Result<(), Trouble> {
        self.of_whatever_path(authority, Target::origin)
    }

    /// The same of a socket, whose path nobody sees: a rule that could fit it by its path refuses it.
    pub(super) fn encrypted_socket(&self, authority: &str) -> Result<(), Trouble> {
        self.encrypted(authority)?;
        let judged = self.of_whatever_path(authority, Target::unseen);
        if let Err(Trouble::Refused(rule)) = &judged {
            let why = "its path cannot be seen, and URL rules for its host name paths";
            let text = format!("A socket to wss://{authority} was refused by {rule}: {why}");
            self.console.add("warning", &text, None);
        }
        judged
    }

    fn of_whatever_path(&self, authority: &str, read_as: fn(Target) -> Target) -> Result<(), Trouble> {
        let (judge, url) = (self.judge()?, format!("https://{authority}/"));
        let target = Target::parse(&url).map(read_as).ok_or(EgressError::Malformed);
        let judged = target.and_then(|target| judge.addresses(&target, &[]));
        judged.map_err(|error| self.note(&url, trouble(&judge, error)))
    }

    /// Judges a URL by itself: its host is judged by who connects.
    pub(super) fn url(&self, url: &str) -> Result<(), Trouble> {
        let judge = self.judge()?;
        let judged = judge.url(url).map(|_| ());
        judged.map_err(|error| self.note(url, trouble(&judge, error)))
    }

    /// Whether rules name paths, which the proxy cannot see inside an encrypted connection.
    pub(super) fn watches_paths(&self) -> bool {
        let Some(app) = self.app.upgrade() else { return true };
        let state = app.policy();
        let rules = state.policy.endpoint(index(RULES_OF)).and_then(|rules| rules.params.urls.as_ref());
        rules.is_some_and(|urls| urls.name_paths())
    }

    /// Whether it is a port of this server, which no page may reach on this machine.
    pub(super) fn is_own(&self, port: u16) -> bool {
        self.app.upgrade().is_none_or(|app| app.owns_port(port))
    }

    /// The rules, where the identity may navigate at all.
    fn judge(&self) -> Result<Judge, Trouble> {
        let nobody = || Trouble::Refused("default:base".to_owned());
        let app = self.app.upgrade().ok_or_else(nobody)?;
        let mut judge = Judge::now(&app, RULES_OF);
        if let Some(names) = &self.names {
            judge = judge.with_names(Arc::clone(names));
        }
        let state = Arc::clone(judge.state());
        let who = state.tokens.principals().iter().find(|who| *who.id == *self.who).ok_or_else(nobody)?;
        let mut query = Query::of(index(RULES_OF));
        query.scopes = Some(&who.scopes);
        match decide(&state.policy, &query) {
            Decision::Allow => Ok(judge),
            Decision::Deny(Denial { element, .. }) => {
                Err(Trouble::Refused(state.policy.rule_name(element.rule).to_owned()))
            }
        }
    }

    /// Remembers why `url` did not load, and gives it back.
    pub(super) fn note(&self, url: &str, trouble: Trouble) -> Trouble {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        if troubles.len() == MOST_TROUBLES {
            troubles.pop_front();
        }
        troubles.push_back((url.to_owned(), trouble.clone()));
        trouble
    }

    /// Forgets all troubles: a navigation begins.
    pub(super) fn forget_troubles(&self) {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Why `url` did not load, if that is known: of the URL itself, or of its host and port.
    pub(super) fn trouble(&self, url: &str) -> Option<Trouble> {
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = place_of(url)?;
        let same = |of: &str| place_of(of).is_some_and(|place| place == wanted);
        let exact = troubles.iter().rev().find(|(of, _)| of == url);
        exact.or_else(|| troubles.iter().rev().find(|(of, _)| same(of))).map(|(_, trouble)| trouble.clone())
    }
}

/// Host and port.
fn place_of(url: &str) -> Option<(String, u16)> {
    let url = url::Url::parse(url).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
}

fn trouble(judge: &Judge, error: EgressError) -> Trouble {
    match error {
        EgressError::Refused(ElementRef { rule, .. }) => {
            Trouble::Refused(judge.state().policy.rule_name(rule).to_owned())
        }
        EgressError::Malformed | EgressError::User => Trouble::Malformed(error.to_string()),
        other => Trouble::Failed(other.to_string()),
    }
}
