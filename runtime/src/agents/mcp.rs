//! MCP servers that agents are given.
//!
//! - `definition`: what is stored of a server, and what of it may be shown
//! - `rows`: the database
//! - `entries`: stored and inline servers as a session hands them to its agent
//! - `check`: a conversation of our own with a server: over its standard streams, or over HTTP

pub mod check;
pub mod definition;
pub mod entries;
mod http;
pub mod rows;
mod stdio;
