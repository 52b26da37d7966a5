//! `allow_ports` and `deny_ports`: the loopback ports that a tunnel may reach.

use std::ops::RangeInclusive;

use super::{Allow, Deny, denied, not_allowed};
use crate::policy::ElementRef;

/// Without `allow_ports`, ports from here on may be reached.
pub const FIRST_UNPRIVILEGED: u16 = 1024;

/// A port, or a range of them with both ends in it.
pub type Ports = RangeInclusive<u16>;

/// Port rules.
#[derive(Debug, Clone, Default)]
pub struct PortRules {
    /// `allow_ports`
    pub allow: Option<Allow<Ports>>,
    /// `deny_ports`
    pub deny: Deny<Ports>,
}

impl PortRules {
    /// What refuses `port`; none where it may be reached. Port 0 is no port.
    #[must_use]
    pub fn refuses(&self, port: u16) -> Option<ElementRef> {
        if let Some(element) = denied(&self.deny, |entry| entry.contains(&port)) {
            return Some(element);
        }
        let base =
            (port == 0 || (self.allow.is_none() && port < FIRST_UNPRIVILEGED)).then_some(ElementRef::BASE);
        base.or_else(|| not_allowed(self.allow.as_ref(), |entry| entry.contains(&port)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_beats_allow_and_low_ports_need_to_be_named() {
        let origin = |element| ElementRef { element, ..ElementRef::BASE };
        let open = PortRules::default();
        assert_eq!(open.refuses(1023), Some(ElementRef::BASE));
        assert_eq!(open.refuses(1024), None);
        assert_eq!(open.refuses(0), Some(ElementRef::BASE));
        let named = PortRules {
            allow: Some(Allow { entries: vec![80..=80, 3000..=3009], origin: origin(7) }),
            deny: vec![(3000..=3001, origin(8))],
        };
        assert_eq!(named.refuses(80), None);
        assert_eq!(named.refuses(3000), Some(origin(8)));
        assert_eq!(named.refuses(8080), Some(origin(7)));
    }
}
