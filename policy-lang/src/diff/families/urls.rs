//! `url_allow`, `url_deny` and `block_private_networks`.
//!
//! A URL that only one side permits is permitted by an entry of that side's allow-list and refused by an entry of the
//! other side's deny-list, or by none of its allow-list: the least URLs that fit each such pair stand for all. What an
//! entry leaves open is filled with a scheme, host, port or path that no entry speaks of.

use crate::diff::view::{Opening, View};
use crate::diff::witness::Witness;
use crate::endpoint::Key;
use crate::matchers::network::unwrapped;
use crate::matchers::url::{Host, METADATA_HOSTS, Target, UrlPattern, UrlRules, unescaped};
use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr};

/// The most pairs that are gone through.
const MOST_PAIRS: usize = 10_000;
const TOO_MANY: &str = "the entries are too many to be compared exactly";

const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const METADATA: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254));

pub(super) fn openings(from: &View<'_>, to: &View<'_>, out: &mut Vec<Opening>) {
    let (Some(old), Some(new)) = (from.rules.params.urls.as_deref(), to.rules.params.urls.as_deref()) else {
        return;
    };
    // One key of the other side at a time: what refuses then is that key.
    let allow = UrlRules { allow: old.allow.clone(), ..new.clone() };
    let deny = UrlRules { deny: old.deny.clone(), ..new.clone() };
    let block = UrlRules { block_private: old.block_private, ..new.clone() };
    let mut left = vec![
        (Key::ParamsUrlAllow, allow),
        (Key::ParamsUrlDeny, deny),
        (Key::ParamsBlockPrivateNetworks, block),
    ];
    let mut asked = HashSet::new();
    let (pairs, whole) = pairs(old, new);
    let fresh = Fresh::of(old, new);
    for (entry, other) in pairs {
        for url in fresh.urls(entry, other) {
            let Some(target) = Target::parse(&url).filter(|_| asked.insert(url.clone())) else { continue };
            let named = matches!(target.host(), Some(Host::Name(_)));
            for addresses in [&[][..], &[PRIVATE], &[METADATA]] {
                if (!addresses.is_empty() && !named) || new.refuses(&target, addresses).is_some() {
                    continue;
                }
                left.retain(|(key, rules)| {
                    if rules.refuses(&target, addresses).is_none() {
                        return true;
                    }
                    let witness =
                        Witness { url: Some(url.clone()), addresses: addresses.to_vec(), ..to.call() };
                    let shown = Opening::shown(*key, witness, from, to);
                    let found = shown.is_some();
                    out.extend(shown);
                    !found
                });
            }
        }
    }
    if !whole {
        out.extend(left.into_iter().map(|(key, _)| Opening::unproven(key, TOO_MANY)));
    }
}

type Pair<'a> = (Option<&'a UrlPattern>, Option<&'a UrlPattern>);

/// What permits and what refuses; and whether these are all.
fn pairs<'a>(old: &'a UrlRules, new: &'a UrlRules) -> (Vec<Pair<'a>>, bool) {
    let permits: Vec<Option<&UrlPattern>> = match &new.allow {
        Some(allow) => allow.entries.iter().map(Some).collect(),
        None => vec![None],
    };
    let refuses: Vec<Option<&UrlPattern>> =
        std::iter::once(None).chain(old.deny.iter().map(|(entry, _)| Some(entry))).collect();
    let whole = permits.len() * refuses.len() <= MOST_PAIRS;
    let all = refuses.iter().flat_map(|other| permits.iter().map(move |entry| (*entry, *other)));
    (all.take(MOST_PAIRS).collect(), whole)
}

/// What no entry speaks of.
struct Fresh {
    label: String,
    port: u16,
}

impl Fresh {
    fn of(old: &UrlRules, new: &UrlRules) -> Self {
        let rules = [old, new];
        let allowed = rules.iter().flat_map(|rules| &rules.allow).flat_map(|allow| &allow.entries);
        let entries: Vec<&UrlPattern> =
            allowed.chain(rules.iter().flat_map(|rules| &rules.deny).map(|(entry, _)| entry)).collect();
        let hosts: String = entries.iter().map(|entry| host(entry, "")).collect::<Vec<_>>().join(" ");
        let mut label = "any".to_owned();
        while hosts.contains(&label) {
            label.push('x');
        }
        let ports: BTreeSet<u16> = entries.iter().filter_map(|entry| entry.port).collect();
        let port = (8080..).find(|port| !ports.contains(port)).unwrap_or(8080);
        Self { label, port }
    }

    /// The least URLs that both may fit.
    fn urls(&self, entry: Option<&UrlPattern>, other: Option<&UrlPattern>) -> Vec<String> {
        let both = [entry, other];
        let given: Vec<&UrlPattern> = both.into_iter().flatten().collect();
        let mut hosts: Vec<String> = given.iter().flat_map(|entry| self.hosts(entry)).collect();
        if entry.is_none() {
            hosts.push(format!("{}.example", self.label));
            hosts.extend(["localhost", "10.0.0.1", "169.254.169.254", METADATA_HOSTS[0]].map(str::to_owned));
        }
        let mut ports = vec![None];
        ports.extend(given.iter().filter_map(|entry| entry.port).chain([self.port]).map(Some));
        let mut urls = Vec::new();
        for scheme in ["https", "http"] {
            for host in &hosts {
                for port in &ports {
                    let port = port.map_or(String::new(), |port| format!(":{port}"));
                    let paths = paths(entry, other);
                    urls.extend(paths.iter().map(|path| format!("{scheme}://{host}{port}{path}")));
                }
            }
        }
        urls
    }

    /// The host of an entry, and other spellings that a denial means as well.
    fn hosts(&self, entry: &UrlPattern) -> Vec<String> {
        let mut hosts = vec![host(entry, &self.label)];
        if let Host::Address(address) = entry.host {
            hosts.push(unwrapped(address).to_string());
            if let IpAddr::V4(address) = unwrapped(address) {
                hosts.push(format!("[{}]", address.to_ipv6_mapped()));
            }
        }
        hosts
    }
}

fn host(entry: &UrlPattern, label: &str) -> String {
    match &entry.host {
        Host::Name(name) if entry.below => format!("{label}.{name}"),
        Host::Name(name) => name.to_string(),
        Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        Host::Address(address) => address.to_string(),
    }
}

/// The shortest paths that both may fit: an allow entry exactly, a deny entry however it is spelt.
fn paths(entry: Option<&UrlPattern>, other: Option<&UrlPattern>) -> Vec<String> {
    let path = |entry: Option<&UrlPattern>| entry.map_or("", |entry| &*entry.path).to_owned();
    let (own, denied) = (path(entry), path(other));
    let mut paths = Vec::new();
    if let Some(rest) = unescaped(&denied).strip_prefix(unescaped(&own).as_slice()) {
        paths.push(own.clone() + &escaped(rest));
    }
    paths.extend([own, denied]);
    paths.iter_mut().filter(|path| path.is_empty()).for_each(|path| path.push('/'));
    paths.dedup();
    paths
}

fn escaped(path: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    path.iter()
        .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
