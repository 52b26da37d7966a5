//! Which addresses are not the public internet. Pure functions over [`IpAddr`]; an IPv4 address inside an IPv6 one is
//! unwrapped first, then judged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of network an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// Reachable from anywhere.
    Public,
    /// Loopback, private, reserved or otherwise special.
    Private,
    /// Link-local, or where clouds serve the machine's own credentials.
    Metadata,
}

/// Services outside link-local ranges that hand out a machine's credentials.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// Special IPv4 networks: address and prefix length.
const PRIVATE_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this host
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 31, 196, 0), 24), // AS112
    (Ipv4Addr::new(192, 52, 193, 0), 24), // AMT
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// Special IPv6 networks that hold no IPv4 address of their own.
const PRIVATE_V6: [(Ipv6Addr, u32); 10] = [
    (Ipv6Addr::UNSPECIFIED, 128),
    (Ipv6Addr::LOCALHOST, 128),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48), // local NAT64
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 63),     // discard
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),    // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),    // documentation
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16),    // segment routing
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7),     // unique local
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),    // site local
];

/// The kind of network that `address` belongs to.
#[must_use]
pub fn network(address: IpAddr) -> Network {
    match unwrapped(address) {
        IpAddr::V4(address) if address.is_link_local() || METADATA_V4.contains(&address) => Network::Metadata,
        IpAddr::V4(address) if PRIVATE_V4.iter().any(|(net, length)| within_v4(address, *net, *length)) => {
            Network::Private
        }
        IpAddr::V6(address) if address.is_unicast_link_local() || METADATA_V6.contains(&address) => {
            Network::Metadata
        }
        IpAddr::V6(address) if address.is_multicast() => Network::Private,
        IpAddr::V6(address) if PRIVATE_V6.iter().any(|(net, length)| within_v6(address, *net, *length)) => {
            Network::Private
        }
        _ => Network::Public,
    }
}

/// The IPv4 address that `address` stands for: mapped, compatible, translated, NAT64 or 6to4. Otherwise itself.
#[must_use]
pub fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let (high, low) = match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => (g, h),
        // `::` and `::1` are addresses of their own, not compatible forms.
        [0, 0, 0, 0, 0, 0] if g != 0 || h > 1 => (g, h),
        [0x2002, ..] => (b, c),
        _ => return address,
    };
    IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

fn within_v4(address: Ipv4Addr, net: Ipv4Addr, length: u32) -> bool {
    (address.to_bits() ^ net.to_bits()) >> (32 - length) == 0
}

fn within_v6(address: Ipv6Addr, net: Ipv6Addr, length: u32) -> bool {
    (address.to_bits() ^ net.to_bits()) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_judged_as_what_it_stands_for() {
        for (text, wanted) in [
            ("8.8.8.8", Network::Public),
            ("2606:4700::1111", Network::Public),
            ("64:ff9b::808:808", Network::Public),
            ("2002:808:808::", Network::Public),
            ("::ffff:8.8.8.8", Network::Public),
            ("127.0.0.1", Network::Private),
            ("::1", Network::Private),
            ("::", Network::Private),
            ("0.0.0.0", Network::Private),
            ("::ffff:127.0.0.1", Network::Private),
            ("::127.0.0.1", Network::Private),
            ("::ffff:0:127.0.0.1", Network::Private),
            ("64:ff9b::7f00:1", Network::Private),
            ("64:ff9b:1::808:808", Network::Private),
            ("2002:7f00:1::", Network::Private),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Network::Private),
            ("100.64.0.1", Network::Private),
            ("100.127.255.255", Network::Private),
            ("100.128.0.0", Network::Public),
            ("172.31.255.255", Network::Private),
            ("172.32.0.0", Network::Public),
            ("198.19.0.1", Network::Private),
            ("255.255.255.255", Network::Private),
            ("224.0.0.1", Network::Private),
            ("ff02::1", Network::Private),
            ("fd00::1", Network::Private),
            ("fec0::1", Network::Private),
            ("169.254.169.254", Network::Metadata),
            ("::ffff:a9fe:a9fe", Network::Metadata),
            ("64:ff9b::a9fe:a9fe", Network::Metadata),
            ("2002:a9fe:a9fe::", Network::Metadata),
            ("fe80::1", Network::Metadata),
            ("fd00:ec2::254", Network::Metadata),
            ("100.100.100.200", Network::Metadata),
            ("168.63.129.16", Network::Metadata),
        ] {
            assert_eq!(network(text.parse().unwrap()), wanted, "{text}");
        }
    }
}
