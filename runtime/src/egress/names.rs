//! A host's name into addresses. Who asks is given all of them, and judges all of them.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// The addresses of one host, in the order in which to try them.
pub type Lookup<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Something that resolves names.
pub trait Names: Debug + Send + Sync {
    /// The addresses of `host`, each with `port`.
    fn lookup<'a>(&'a self, host: &'a str, port: u16) -> Lookup<'a>;
}

/// The machine's own resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Names for System {
    fn lookup<'a>(&'a self, host: &'a str, port: u16) -> Lookup<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
