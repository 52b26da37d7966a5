//! How often a peer may present a wrong token. Kept apart from every principal's own rates, so that guessing costs nobody else.
//!
//! A peer that has used its budget up is not asked at all until it has recovered: else a guess would still be answered.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens in a row that a peer may present
const BURST: u32 = 60;
/// and how long it takes to forget one.
const INTERVAL: Duration = Duration::from_secs(1);
/// Peers that are kept; beyond, those that have recovered are dropped.
const PEERS: usize = 4096;

/// Failed logins by peer, each as the moment when all its failures will be forgotten.
#[derive(Debug, Default)]
pub struct FailedLogins(Mutex<HashMap<IpAddr, Instant>>);

impl FailedLogins {
    /// How long the peer must wait, where its budget is used up.
    #[must_use]
    pub fn wait(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owed = peers.get(&peer)?.saturating_duration_since(now);
        // One more failure must still fit.
        (owed + INTERVAL).checked_sub(INTERVAL * BURST).filter(|wait| !wait.is_zero())
    }

    /// Counts a failure.
    pub fn failed(&self, peer: IpAddr, now: Instant) {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= PEERS {
            peers.retain(|_, forgotten| *forgotten > now);
        }
        if peers.len() >= PEERS && !peers.contains_key(&peer) {
            // Every kept peer is still paying: this one goes uncounted rather than growing the table without bound.
            return;
        }
        let forgotten = peers.entry(peer).or_insert(now);
        *forgotten = (*forgotten).max(now) + INTERVAL;
    }
}

#[cfg(test)]
mod tests {
    use super::{BURST, FailedLogins, INTERVAL};
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Instant;

    #[test]
    fn the_budget_is_exact_and_comes_back() {
        let (peer, other) = (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));
        let (logins, start) = (FailedLogins::default(), Instant::now());
        for _ in 0..BURST {
            assert_eq!(logins.wait(peer, start), None);
            logins.failed(peer, start);
        }
        assert_eq!(logins.wait(peer, start), Some(INTERVAL));
        assert_eq!(logins.wait(other, start), None);
        assert_eq!(logins.wait(peer, start + INTERVAL), None);
    }
}
