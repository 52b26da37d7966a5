//! The server from outside: the real binary on free ports, asked over sockets.
//!
//! Rows are in `<group>/<endpoint_id>.yaml` and `_pipeline.yaml`, see [`cases`]. What cannot be a row (bytes that are no
//! HTTP, signals, counts) is a function named for what it shows.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test program: what goes wrong is a failed test"
)]

#[path = "../precedence.rs"]
mod examples;
#[path = "../policy/random.rs"]
#[expect(dead_code, reason = "only paths are asked of a running server")]
mod random;

#[path = "../guard/rows.rs"]
mod rows;
#[path = "../guard/world.rs"]
#[expect(dead_code, reason = "the rules of this tree are a policy here")]
mod world;

mod agree;
mod audit;
mod audit_faults;
mod auth;
mod bounded;
mod cases;
mod characters;
mod client;
mod commands;
mod container;
mod deep_trees;
mod disks;
mod downloads;
mod endless;
mod faults;
mod forwarded;
mod identity;
mod lasting;
mod life;
mod limits;
mod listeners;
mod managed;
mod matrix;
mod mount;
mod pages;
mod parsing;
mod path_table;
mod paths;
mod policy;
mod precedence;
mod raw;
mod repositories;
mod roots;
mod sealed;
mod secrets;
mod server;
mod shells;
mod slots;
mod soak;
mod sockets;
mod starts;
mod template_starts;
mod templates;
mod terminal_sockets;
mod upload_size;
