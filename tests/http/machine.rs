//! What tests ask of the machine without leaving anything to chance: a port that nobody takes, a program that can be run.

#![allow(dead_code, clippy::allow_attributes, reason = "each program uses some of it")]

use rustix::net::{AddressFamily, SocketType};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

/// A port of loopback where nobody listens, for as long as this is held: it is bound, and takes no connection.
#[derive(Debug)]
pub struct ClosedPort {
    pub number: u16,
    socket: OwnedFd,
}

impl ClosedPort {
    pub fn new() -> Self {
        Self::at(0)
    }

    /// The same of a port whose listener has just ended.
    pub fn at(number: u16) -> Self {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        // What came to the listener before may linger.
        rustix::net::sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], number))).unwrap();
        let listener = TcpListener::from(socket);
        Self { number: listener.local_addr().unwrap().port(), socket: listener.into() }
    }

    /// Opens it.
    pub fn open(self) -> TcpListener {
        rustix::net::listen(&self.socket, 128).unwrap();
        TcpListener::from(self.socket)
    }
}

/// Writes a program of the test. A child does it: a file that this process holds open for writing, and so any child that
/// another test forks at that moment, could not be executed.
pub fn program(path: &Path, text: &str) {
    let mut child = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
