//! The server: boot, the pipeline that every request takes, and the handlers at its end.
//!
//! `boot` reads the environment and a policy and yields an [`app::App`]; [`http`] listens and hands each request to
//! [`pipeline`], whose eight steps decide by the policy and call one of [`handlers`]; those translate between the wire
//! and services that know nothing of HTTP.
#![deny(clippy::disallowed_methods)]

pub mod agents;
pub mod app;
pub mod audit;
pub mod auth;
pub mod boot;
pub mod browser;
pub mod cli;
pub mod command_socket;
pub mod commands;
pub mod custom;
pub mod egress;
pub mod endpoint;
pub mod engine;
pub mod env;
pub mod error;
pub mod extend;
pub mod files;
pub mod git;
pub mod guard;
pub mod handlers;
pub mod http;
mod log;
pub mod pipeline;
#[doc(hidden)]
pub mod probe;
pub mod process;
pub mod pty;
pub mod routes;
pub mod sse;
pub mod system;
pub mod tunnel;
mod websocket;
