//! Terminal sessions: shells that outlive the sockets they are looked at through.
//!
//! A [`Session`] is a process on a terminal and its scrollback. Any number of sockets may come and go, one at a time;
//! [`protocol`] is what they speak, [`socket`] the loop that speaks it.

pub mod protocol;
mod session;
pub mod socket;

pub use session::{Attached, IDLE, Session, Sessions};
