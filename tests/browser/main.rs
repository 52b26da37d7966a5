//! The browser group with a real Chromium, against pages that are served on loopback.
//!
//! Each test starts a server of its own, so each has a browser of its own; the pages come from [`site`], which remembers
//! what it was asked for. Nothing here reaches beyond loopback.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test program: what goes wrong is a failed test"
)]

#[path = "../http/client.rs"]
mod client;
#[path = "../http/raw.rs"]
#[expect(dead_code, reason = "shared with another program, which uses all of it")]
mod raw;
#[path = "../http/server.rs"]
#[expect(dead_code, reason = "shared with another program, which uses all of it")]
mod server;

mod actions;
mod answers;
mod confined;
mod driver;
mod fences;
mod life;
mod paths;
mod refusals;
mod site;
