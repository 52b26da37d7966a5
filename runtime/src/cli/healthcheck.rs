//! `healthcheck`: asks a running server whether it lives; for a container's health check.

use super::Exit;
use crate::log;
use clap::Args;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// What is read of an answer: the status line is far shorter.
const READ_BYTES: usize = 4096;

/// Exit 0 when the server on this machine answers, 1 when it does not
#[derive(Debug, Args)]
pub(super) struct Healthcheck {
    /// Host to ask
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port to ask
    #[arg(long, default_value_t = 9000)]
    port: u16,
    /// Seconds to wait for the answer
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    timeout: f64,
}

impl Healthcheck {
    pub(super) fn run(self) -> Exit {
        match self.ask() {
            Ok(true) => Exit::Success,
            Ok(false) => {
                log::say(format_args!("{}:{} answers, but is not healthy", self.host, self.port));
                Exit::Failure
            }
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                let seconds = self.timeout;
                log::say(format_args!("{}:{} does not answer within {seconds} s", self.host, self.port));
                Exit::Failure
            }
            Err(error) => {
                log::say(format_args!("{}:{} does not answer: {error}", self.host, self.port));
                Exit::Failure
            }
        }
    }

    fn ask(&self) -> std::io::Result<bool> {
        let until = Instant::now() + Duration::from_secs_f64(self.timeout);
        let address = (self.host.as_str(), self.port).to_socket_addrs()?.next();
        let address = address.ok_or(std::io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, left(until)?)?;
        stream.set_write_timeout(Some(left(until)?))?;
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        let mut piece = [0; 512];
        while answer.len() < READ_BYTES && !answer.contains(&b'\n') {
            stream.set_read_timeout(Some(left(until)?))?;
            match stream.read(&mut piece)? {
                0 => break,
                read => answer.extend_from_slice(piece.get(..read).unwrap_or_default()),
            }
        }
        Ok(answer.starts_with(b"HTTP/1.1 200 "))
    }
}

fn left(until: Instant) -> std::io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.001..=3600.0).contains(seconds))
        .ok_or_else(|| "a number of seconds, at most 3600".to_owned())
}
