//! TERMINAL: terminal sessions and the port tunnel. The sessions are [`crate::pty`]; what is here translates.
//!
//! A session belongs to the principal that opened it: for another it does not exist, unless that one holds `*`.

mod sessions;

pub(super) mod pty_connect;
pub(super) mod pty_create;
pub(super) mod pty_delete;
pub(super) mod pty_get;
pub(super) mod pty_list;
pub(super) mod tunnel_connect;
