//! The agents group from outside: the real server, the scripted agent at the other end of its wire, asked over sockets.
//!
//! [`lab`] starts both; [`follow`] reads event streams. One file an area.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test program: what goes wrong is a failed test"
)]
#![allow(dead_code, clippy::allow_attributes, reason = "the support serves other programs too")]

#[path = "../http/client.rs"]
mod client;
mod follow;
#[path = "../golden.rs"]
mod golden;
mod lab;
mod load;
mod log;
#[path = "../http/raw.rs"]
mod raw;
#[path = "../http/server.rs"]
mod server;

mod bounds;
mod branched;
mod bundles;
mod catalogue;
mod child_user;
mod credentials;
mod frames;
mod held;
mod installs;
mod kills;
mod lagged;
mod mcp;
mod mcp_events;
mod mcp_handed;
mod native;
mod noise;
mod options;
mod processes;
mod rare;
mod real;
mod receiver;
mod recorded;
mod recovery;
mod requests;
mod schedules;
mod sessions;
mod sign_in;
mod skills;
mod travelled;
mod turns;
mod veiled;
mod web;
mod webhooks;
mod wheels;
mod wire;
mod workspace;
