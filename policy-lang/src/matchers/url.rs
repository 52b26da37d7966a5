//! `url_allow`, `url_deny` and `block_private_networks`: which URLs may be opened, and on which addresses.
//!
//! An entry is `[scheme://]host[:port][/path-prefix]`; a host may begin with `*.`, which stands for one label or more;
//! without a scheme, http and https are meant; without a port, any port of a bare host and the scheme's own port where a
//! scheme is given. A URL is judged in the form that a browser reads it ([`Target`]), never as text.

use super::network::{Network, network, unwrapped};
use super::{Allow, Deny, denied, not_allowed};
use crate::policy::{ElementRef, RuleIx};
use std::net::IpAddr;

/// Names under which clouds serve a machine's credentials.
pub(crate) const METADATA_HOSTS: [&str; 3] = ["metadata.google.internal", "metadata.goog", "instance-data"];

/// A host as a URL or an entry gives it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name in lower-case ASCII form.
    Name(Box<str>),
    /// An address.
    Address(IpAddr),
}

/// A URL, read as a browser reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Lower case, without the colon.
    scheme: Box<str>,
    host: Option<Host>,
    /// The port that is used, the scheme's own included.
    port: Option<u16>,
    /// The path, `..` resolved, percent escapes as they are.
    path: Box<str>,
    known: Known,
}

/// What is known of the path of a [`Target`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// All of it.
    Whole,
    /// Nothing yet: it is judged again once the path has been seen.
    Later,
    /// Nothing, and nothing ever will be.
    Never,
}

/// The URL without its query, which may hold secrets.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.scheme)?;
        match &self.host {
            None => {}
            Some(Host::Name(name)) => write!(f, "//{name}")?,
            Some(Host::Address(IpAddr::V6(address))) => write!(f, "//[{address}]")?,
            Some(Host::Address(address)) => write!(f, "//{address}")?,
        }
        match (&*self.scheme, self.port) {
            ("http", Some(80)) | ("https", Some(443)) | (_, None) => {}
            (_, Some(port)) => write!(f, ":{port}")?,
        }
        f.write_str(&self.path)
    }
}

impl Target {
    /// Whether a host is asked for something over HTTP.
    #[must_use]
    pub fn is_web(&self) -> bool {
        matches!(&*self.scheme, "http" | "https") && self.host.is_some()
    }

    /// Reads a URL by the rules of the URL standard. None where it is no absolute URL.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = url::Url::parse(text).ok()?;
        let host = url.host().map(|host| match host {
            url::Host::Domain(name) => Host::Name(name.to_ascii_lowercase().into()),
            url::Host::Ipv4(address) => Host::Address(address.into()),
            url::Host::Ipv6(address) => Host::Address(address.into()),
        });
        Some(Self {
            scheme: url.scheme().into(),
            host,
            port: url.port_or_known_default(),
            path: url.path().into(),
            known: Known::Whole,
        })
    }

    /// The same host, port and scheme, of whose path nothing is known: what a tunnel is opened to. Entries with a path
    /// then say nothing against it, and something for it.
    #[must_use]
    pub fn origin(self) -> Self {
        Self { known: Known::Later, ..self }
    }

    /// The same host, port and scheme, of whose path nothing will ever be known. Entries with a path then say everything
    /// that they could say against it, and nothing for it.
    #[must_use]
    pub fn unseen(self) -> Self {
        Self { known: Known::Never, ..self }
    }

    /// The host, to be resolved by who connects.
    #[must_use]
    pub const fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    /// The port, to be connected to.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }
}

/// An entry of `url_allow` or `url_deny`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPattern {
    pub(crate) scheme: Option<Box<str>>,
    pub(crate) host: Host,
    /// Whether the host began with `*.`: names below it, not itself.
    pub(crate) below: bool,
    pub(crate) port: Option<u16>,
    /// Without a slash at its end; empty fits every path.
    pub(crate) path: Box<str>,
}

/// Why an entry cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UrlPatternError {
    /// A scheme but http and https.
    #[error("has a scheme other than http and https")]
    Scheme,
    /// A `*` anywhere but as `*.` before the host.
    #[error("has a `*` that is not the `*.` before a host")]
    Wildcard,
    /// A user name before the host.
    #[error("has a user name")]
    User,
    /// No host, or no possible one.
    #[error("has no valid host")]
    Host,
    /// A port that is no number between 1 and 65535.
    #[error("has no valid port")]
    Port,
    /// A query or fragment.
    #[error("has a query or fragment")]
    Query,
}

impl UrlPattern {
    /// Reads an entry.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UrlPatternError> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        if scheme.as_deref().is_some_and(|scheme| !matches!(scheme, "http" | "https")) {
            return Err(UrlPatternError::Scheme);
        }
        if rest.contains(['?', '#']) {
            return Err(UrlPatternError::Query);
        }
        let (below, rest) = rest.strip_prefix("*.").map_or((false, rest), |rest| (true, rest));
        if rest.contains('*') {
            return Err(UrlPatternError::Wildcard);
        }
        if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(UrlPatternError::User);
        }
        if rest.contains(['\\', ' ', '\t', '\n', '\r']) || rest.is_empty() || rest.starts_with(['/', ':']) {
            return Err(UrlPatternError::Host);
        }
        // The port is read here: the URL parser drops a scheme's own port, and an entry may mean just that one.
        let authority = rest.split('/').next().unwrap_or_default();
        let after_host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
        let port = match after_host.rsplit_once(':') {
            None => None,
            Some((_, digits)) => {
                Some(digits.parse::<u16>().ok().filter(|port| *port != 0).ok_or(UrlPatternError::Port)?)
            }
        };
        let whole = format!("{}://{rest}", scheme.as_deref().unwrap_or("http"));
        let target = Target::parse(&whole).ok_or(UrlPatternError::Host)?;
        let host = target.host.ok_or(UrlPatternError::Host)?;
        if below && matches!(host, Host::Address(_)) {
            return Err(UrlPatternError::Wildcard);
        }
        let scheme_port = if scheme.is_some() { target.port } else { None };
        Ok(Self {
            scheme: scheme.map(Into::into),
            host,
            below,
            port: port.or(scheme_port),
            path: target.path.trim_end_matches('/').into(),
        })
    }

    /// Whether an allow entry fits: exactly.
    fn allows(&self, target: &Target) -> bool {
        let path = match target.known {
            Known::Whole => {
                let rest = target.path.strip_prefix(&*self.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            Known::Later => true,
            Known::Never => self.path.is_empty(),
        };
        self.fits_origin(target, false) && path
    }

    /// Whether a deny entry fits: percent escapes in the path, its case and a dot after the host are no way around it.
    fn denies(&self, target: &Target) -> bool {
        let path = match target.known {
            Known::Whole => {
                let (own, path) = (unescaped(&self.path), unescaped(&target.path));
                let rest = path.strip_prefix(own.as_slice());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            }
            Known::Later => self.path.is_empty(),
            Known::Never => true,
        };
        self.fits_origin(target, true) && path
    }

    fn fits_origin(&self, target: &Target, wide: bool) -> bool {
        let scheme = self.scheme.as_ref().is_none_or(|scheme| *scheme == target.scheme);
        let port = self.port.is_none_or(|port| target.port == Some(port));
        let host = match (&self.host, &target.host) {
            (Host::Address(own), Some(Host::Address(address))) if wide => {
                unwrapped(*own) == unwrapped(*address)
            }
            (Host::Address(own), Some(Host::Address(address))) => own == address,
            (Host::Name(own), Some(Host::Name(name))) => {
                let name = if wide { name.trim_end_matches('.') } else { name };
                let own = if wide { own.trim_end_matches('.') } else { own };
                if self.below {
                    name.strip_suffix(own)
                        .and_then(|head| head.strip_suffix('.'))
                        .is_some_and(|head| !head.is_empty())
                } else {
                    name == own
                }
            }
            _ => false,
        };
        scheme && port && host
    }

    /// Whether this entry names a metadata or link-local host by itself, not through a wildcard or a name of its own.
    fn names_metadata(&self) -> bool {
        match &self.host {
            Host::Address(address) => network(*address) == Network::Metadata,
            Host::Name(name) => !self.below && METADATA_HOSTS.contains(&&**name),
        }
    }
}

/// URL rules.
#[derive(Debug, Clone)]
pub struct UrlRules {
    /// `url_allow`
    pub allow: Option<Allow<UrlPattern>>,
    /// `url_deny`
    pub deny: Deny<UrlPattern>,
    /// `block_private_networks`: whether, and what says so.
    pub block_private: Option<ElementRef>,
}

impl UrlRules {
    /// What refuses the URL; none where it may be opened. `addresses` are what its host resolves to: every one must pass.
    #[must_use]
    pub fn refuses(&self, target: &Target, addresses: &[IpAddr]) -> Option<ElementRef> {
        if !target.is_web() {
            return Some(ElementRef::BASE);
        }
        denied(&self.deny, |entry| entry.denies(target))
            .or_else(|| not_allowed(self.allow.as_ref(), |entry| entry.allows(target)))
            .or_else(|| self.refuses_host(target))
            .or_else(|| addresses.iter().find_map(|address| self.refuses_address(target, *address)))
    }

    fn refuses_host(&self, target: &Target) -> Option<ElementRef> {
        match target.host.as_ref()? {
            Host::Address(address) => self.refuses_address(target, *address),
            Host::Name(name) => {
                let name = name.trim_end_matches('.');
                let local = name == "localhost" || name.ends_with(".localhost");
                let metadata = METADATA_HOSTS.contains(&name) && !self.metadata_named(target);
                self.block_private.filter(|_| local).or_else(|| metadata.then_some(ElementRef::BASE))
            }
        }
    }

    /// What refuses a connection to `address` on behalf of `target`: asked again for every address that is connected to.
    #[must_use]
    pub fn refuses_address(&self, target: &Target, address: IpAddr) -> Option<ElementRef> {
        match network(address) {
            Network::Public => None,
            Network::Private => self.block_private,
            Network::Metadata if self.metadata_named(target) => None,
            Network::Metadata => Some(self.block_private.unwrap_or(ElementRef::BASE)),
        }
    }

    /// Whether `url_allow` names the very host of `target`, and that host is a metadata service.
    fn metadata_named(&self, target: &Target) -> bool {
        let named = |allow: &Allow<UrlPattern>| {
            allow.entries.iter().any(|entry| entry.names_metadata() && entry.allows(target))
        };
        self.allow.as_ref().is_some_and(named)
    }

    /// Rules that say nothing.
    #[must_use]
    pub const fn open() -> Self {
        Self { allow: None, deny: Vec::new(), block_private: None }
    }

    /// Whether an entry names a path, so that a host and a port alone do not tell whether a URL may be opened.
    #[must_use]
    pub fn name_paths(&self) -> bool {
        let allow = self.allow.iter().flat_map(|allow| &allow.entries);
        let deny = self.deny.iter().map(|entry| &entry.0);
        allow.chain(deny).any(|entry| !entry.path.is_empty())
    }

    /// The rule behind `block_private_networks: true`.
    #[must_use]
    pub fn block_private_rule(&self) -> Option<RuleIx> {
        self.block_private.map(|element| element.rule)
    }
}

/// Percent escapes resolved once, ASCII in lower case, repeated slashes as one.
pub(crate) fn unescaped(path: &str) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [byte, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, after @ ..] => {
                hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4 | low, after))
            }
            _ => None,
        };
        let (byte, after) = escaped.unwrap_or((*byte, after));
        if byte != b'/' || plain.last() != Some(&b'/') {
            plain.push(byte.to_ascii_lowercase());
        }
        rest = after;
    }
    plain
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests;
