//! The URL rules of one endpoint, asked about one URL and every address behind it.

use super::error::EgressError;
use super::names::{Names, System};
use crate::app::{App, PolicyState, index};
use crate::pipeline::admit::Permit;
use policy_lang::decide::{Decision, Denial, Query, decide};
use policy_lang::endpoint::EndpointId;
use policy_lang::matchers::url::{Host, Target};
use policy_lang::policy::ElementRef;
use policy_lang::resolved::EndpointIx;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Most addresses of one host that are judged; a host with more is not connected to.
const MOST_ADDRESSES: usize = 64;

/// The URL rules of one endpoint under one policy.
#[derive(Debug, Clone)]
pub struct Judge {
    state: Arc<PolicyState>,
    endpoint: EndpointIx,
    names: Arc<dyn Names>,
}

/// A URL that may be opened, with the addresses that were judged. The only way to one is through a [`Judge`].
#[derive(Debug, Clone)]
pub struct Place {
    pub(super) url: url::Url,
    pub(super) host: String,
    pub(super) addresses: Vec<SocketAddr>,
}

impl Place {
    /// The URL in the form in which it was judged.
    #[must_use]
    pub const fn url(&self) -> &url::Url {
        &self.url
    }

    /// The addresses that may be connected to, in the order in which to try them; at least one.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl Judge {
    /// The rules that admitted a call.
    #[must_use]
    pub fn of(permit: &Permit) -> Self {
        Self { state: Arc::clone(permit.state()), endpoint: permit.endpoint(), names: Arc::new(System) }
    }

    /// The rules that hold now for `endpoint`: for what the server does later on behalf of that endpoint.
    #[must_use]
    pub fn now(app: &App, endpoint: EndpointId) -> Self {
        Self { state: app.policy(), endpoint: index(endpoint), names: Arc::new(System) }
    }

    /// The rules of an endpoint under a policy that is in force or was when a call was admitted.
    #[must_use]
    pub fn under(state: &Arc<PolicyState>, endpoint: EndpointIx) -> Self {
        Self { state: Arc::clone(state), endpoint, names: Arc::new(System) }
    }

    /// The rules of `endpoint` under a policy that no server holds.
    #[cfg(test)]
    pub(super) fn for_test(state: PolicyState, endpoint: EndpointId) -> Self {
        Self { state: Arc::new(state), endpoint: index(endpoint), names: Arc::new(System) }
    }

    /// The same with another resolver.
    #[must_use]
    pub fn with_names(mut self, names: Arc<dyn Names>) -> Self {
        self.names = names;
        self
    }

    /// The policy that it judges by.
    #[must_use]
    pub const fn state(&self) -> &Arc<PolicyState> {
        &self.state
    }

    /// The endpoint whose rules it holds.
    #[must_use]
    pub const fn endpoint(&self) -> EndpointIx {
        self.endpoint
    }

    /// Judges a URL by itself, without asking a name server: a host given as an address is judged as that address.
    ///
    /// # Errors
    /// [`EgressError::Malformed`] or [`EgressError::Refused`].
    pub fn url(&self, text: &str) -> Result<Target, EgressError> {
        let target = Target::parse(text).ok_or(EgressError::Malformed)?;
        self.addresses(&target, &[])?;
        Ok(target)
    }

    /// Judges `target` together with addresses that its host resolves to. Every one must pass.
    ///
    /// # Errors
    /// [`EgressError::Refused`].
    pub fn addresses(&self, target: &Target, addresses: &[IpAddr]) -> Result<(), EgressError> {
        let mut query = Query::of(self.endpoint);
        query.url = Some(target);
        query.addresses = addresses;
        match decide(&self.state.policy, &query) {
            Decision::Allow => Ok(()),
            Decision::Deny(Denial { element, .. }) => Err(EgressError::Refused(element)),
        }
    }

    /// Judges a URL, resolves its host and judges every address.
    ///
    /// # Errors
    /// [`EgressError::Malformed`], [`EgressError::User`], [`EgressError::Refused`] or [`EgressError::NotResolved`].
    pub async fn place(&self, text: &str) -> Result<Place, EgressError> {
        self.resolve(text, self.url(text)?).await
    }

    /// The same of scheme, host and port alone: what is asked before a tunnel is opened, whose path nobody knows yet.
    ///
    /// # Errors
    /// As [`Self::place`].
    pub async fn origin(&self, text: &str) -> Result<Place, EgressError> {
        let target = Target::parse(text).ok_or(EgressError::Malformed)?.origin();
        self.addresses(&target, &[])?;
        self.resolve(text, target).await
    }

    async fn resolve(&self, text: &str, target: Target) -> Result<Place, EgressError> {
        let url = url::Url::parse(text).map_err(|_| EgressError::Malformed)?;
        let (Some(host), Some(port)) = (target.host(), target.port()) else {
            return Err(EgressError::Malformed);
        };
        // What was read twice must have been read alike: the rules judged the target, the connection takes the URL.
        let same = match host {
            Host::Name(name) => url.domain().is_some_and(|domain| domain.eq_ignore_ascii_case(name)),
            Host::Address(_) => url.domain().is_none(),
        };
        if !same {
            return Err(EgressError::Refused(ElementRef::BASE));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EgressError::User);
        }
        let addresses = match host {
            Host::Address(address) => vec![SocketAddr::new(*address, port)],
            Host::Name(name) => self.names.lookup(name, port).await.map_err(|_| EgressError::NotResolved)?,
        };
        if addresses.is_empty() || addresses.len() > MOST_ADDRESSES {
            return Err(EgressError::NotResolved);
        }
        let judged: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
        self.addresses(&target, &judged)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        Ok(Place { url, host, addresses })
    }
}
