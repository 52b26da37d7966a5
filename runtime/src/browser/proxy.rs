//! The egress proxy: the only way out for the pages of one identity, and the place where its URL rules are enforced.
//!
//! Each identity has a proxy of its own on a loopback port, so whose request it is needs no credentials. The browser
//! sends everything through it: documents, what they load, workers, sockets, windows. A connection is judged by the
//! addresses that its host resolves to, and goes to one of these very addresses.
//!
//! Sockets come in by a door of their own. To a proxy, an encrypted socket looks like any other encrypted request, but
//! those are also judged by their paths, in the page ([`super::page`]), and sockets pass unseen there.
//!
//! | module | |
//! |---|---|
//! | `serve` | one connection of the browser: which kind of request it is |
//! | `forward` | a request in the clear, judged by its whole URL |
//! | `tunnel` | a tunnel: encrypted bytes are carried, requests in the clear are judged one by one |
//! | `headers` | what concerns one connection only is not passed on |

mod forward;
mod headers;
mod serve;
mod tunnel;

#[cfg(test)]
mod tests;

use super::fence::{Fence, Trouble};
use crate::egress::{Place, dial};
use serve::Way;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

/// Connections of the browser that one proxy serves at once; further ones wait.
const MOST_CONNECTIONS: usize = 512;

/// A proxy; gone when dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    /// Where pages come in.
    pages: Listening,
    /// Where their sockets do.
    sockets: Listening,
}

/// Which of the two a connection came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Pages,
    Sockets,
}

/// A port on the loopback address, served.
#[derive(Debug)]
struct Listening {
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl Proxy {
    /// Listens on ports of the system's choice.
    pub(super) async fn open(fence: Arc<Fence>) -> io::Result<Self> {
        let pages = Listening::open(Arc::clone(&fence), Door::Pages).await?;
        Ok(Self { pages, sockets: Listening::open(fence, Door::Sockets).await? })
    }

    /// The ports that it listens on.
    pub(super) fn ports(&self) -> [u16; 2] {
        [self.pages.port, self.sockets.port]
    }

    /// What tells the browser to use it. Sockets go where `socks` says, whatever kind of proxy that names.
    pub(super) fn rules(&self) -> String {
        let [pages, sockets] = self.ports();
        format!("http=127.0.0.1:{pages};https=127.0.0.1:{pages};socks=http://127.0.0.1:{sockets}")
    }
}

impl Listening {
    async fn open(fence: Arc<Fence>, door: Door) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let serving = AbortOnDropHandle::new(tokio::spawn(accept(listener, fence, door)));
        Ok(Self { port, _serving: serving })
    }
}

async fn accept(listener: TcpListener, fence: Arc<Fence>, door: Door) {
    let seats = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                let served = serve::serve(Box::new(stream), Arc::clone(&fence), Way::In(door));
                tokio::spawn(async move {
                    served.await;
                    drop(seat);
                });
            }
            // Out of descriptors: some will be given back.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

/// Connects to a judged place, but not to this server itself.
async fn reach(fence: &Fence, place: &Place) -> Result<TcpStream, Trouble> {
    let stream = dial(place).await.map_err(|error| Trouble::Failed(error.to_string()))?;
    let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else {
        return Err(Trouble::Failed("no connection".to_owned()));
    };
    // Both ends on one address: the connection did not leave this machine.
    if fence.is_own(peer.port()) && (peer.ip() == local.ip() || peer.ip().is_loopback()) {
        return Err(Trouble::Refused("default:base".to_owned()));
    }
    Ok(stream)
}
