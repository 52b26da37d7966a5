//! Listening TCP sockets, IPv4 and IPv6, with the process behind each where the kernel lets us see it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// Its port.
    pub port: u16,
    /// Its address; `::` serves IPv4 too unless the program said otherwise.
    pub address: IpAddr,
    /// The process that holds it; none where it may not be seen.
    pub pid: Option<i32>,
    inode: u64,
}

/// All of them, by port and address. Reads the whole process table: call it off the async threads.
#[must_use]
pub fn listening() -> Vec<Listening> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let mut found = parse(&read("/proc/self/net/tcp"));
    found.extend(parse(&read("/proc/self/net/tcp6")));
    let holders = if found.is_empty() { HashMap::new() } else { holders() };
    for socket in &mut found {
        socket.pid = holders.get(&socket.inode).copied();
    }
    found.sort_by_key(|socket| (socket.port, socket.address));
    found.dedup_by_key(|socket| (socket.port, socket.address, socket.inode));
    found
}

/// The listening sockets of a `/proc/net/tcp` or `tcp6`. What is no such line is passed over.
pub(crate) fn parse(table: &str) -> Vec<Listening> {
    table.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Listening> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if *fields.get(3)? != "0A" {
        return None;
    }
    let (address, port) = fields.get(1)?.split_once(':')?;
    let inode = fields.get(9)?.parse().ok()?;
    Some(Listening { port: u16::from_str_radix(port, 16).ok()?, address: ip(address)?, pid: None, inode })
}

/// An address as the kernel writes it: words of four bytes, each in the machine's own order.
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(hex.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut bytes = [0; 16];
            for (at, piece) in bytes.chunks_exact_mut(4).enumerate() {
                piece.copy_from_slice(&word(at)?);
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

/// Which process holds which socket, by inode.
fn holders() -> HashMap<u64, i32> {
    let mut holders = HashMap::new();
    let Ok(processes) = std::fs::read_dir("/proc") else { return holders };
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(files) = std::fs::read_dir(process.path().join("fd")) else { continue };
        for file in files.flatten() {
            let link = std::fs::read_link(file.path()).unwrap_or_default();
            let inode =
                link.to_str().and_then(|link| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
            if let Some(inode) = inode {
                holders.entry(inode).or_insert(pid);
            }
        }
    }
    holders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // runtime 57
    #[test]
    fn each_listener_is_listed_with_its_address_and_process() {
        let sockets = ["127.0.0.1:0", "[::1]:0", "[::]:0"].map(std::net::TcpListener::bind);
        for socket in sockets.iter().flatten() {
            let at = socket.local_addr().unwrap();
            let found: Vec<_> = listening().into_iter().filter(|l| l.port == at.port()).collect();
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!((found[0].address, found[0].pid), (at.ip(), i32::try_from(std::process::id()).ok()));
        }
    }

    #[test]
    fn only_listeners_are_taken() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1\n   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 78 1\n";
        let wanted = Listening { port: 8080, address: Ipv4Addr::LOCALHOST.into(), pid: None, inode: 77 };
        assert_eq!(parse(table), [wanted]);
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = (parse(&text), ip(&text));
        }
    }
}
