//! The door outwards: every URL that the server itself opens is judged here, resolved here and connected to from here.
//! Knows nothing of HTTP as the server speaks it.
//!
//! A [`Judge`] is the URL rules of one endpoint under one policy. It reads a URL as a browser reads it, resolves its host
//! once, judges every address that came back, and yields a [`Place`]: a URL with the addresses that passed. [`connect()`]
//! goes to one of those very addresses and asks no name server again, so that a name whose answer changes between check
//! and use leads nowhere else. [`send`] speaks HTTP/1.1 over such a connection, follows no redirect, uses no proxy, and
//! is bounded in time; its [`Answer`] is bounded in size by who reads it.
//!
//! | module | |
//! |---|---|
//! | `judge` | which URLs and addresses may be opened |
//! | `names` | a host's name into addresses |
//! | `connect` | the connection, plain or encrypted; `tls` holds the authorities that are trusted |
//! | `client` | one request over one connection |
//! | `error` | why it came to nothing |

mod client;
mod connect;
mod error;
mod judge;
mod names;
mod tls;

pub use client::{Answer, Request, send};
pub use connect::{Connection, connect, dial};
pub use error::EgressError;
pub use judge::{Judge, Place};
pub use names::{Lookup, Names, System};

#[cfg(test)]
mod tests;
