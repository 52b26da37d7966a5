//! The server's end of a terminal: read by the pump, written to and asked by callers.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use bytes::BytesMut;
use rustix::process::Pid;
use rustix::termios::{Winsize, tcgetpgrp, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

use super::sys;

/// Most bytes taken at once; a kernel seldom has more than a page.
const READ: usize = 16 * 1024;

/// A read shorter than this has most likely left nothing.
const SHORT: usize = 1024;

/// The end. Its clones are one: the terminal is hung up when the last of them is dropped.
#[derive(Debug, Clone)]
pub(super) struct Terminal(Arc<AsyncFd<OwnedFd>>);

impl Terminal {
    /// Opens a terminal; returns the server's end and the program's. It has its size before anything runs on it, so that
    /// the first thing a program can ask is answered right.
    pub(super) fn open(columns: u16, rows: u16) -> io::Result<(Self, pty_process::blocking::Pts)> {
        let (ours, theirs) = pty_process::blocking::open().map_err(io::Error::other)?;
        let ours = OwnedFd::from(ours);
        rustix::io::ioctl_fionbio(&ours, true)?;
        let terminal = Self(Arc::new(sys::watch_terminal(ours)?));
        terminal.resize(columns, rows)?;
        Ok((terminal, theirs))
    }

    /// Reads once, at most `most` bytes, behind what is in the buffer.
    pub(super) async fn read(&self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        loop {
            let mut ready = self.0.readable().await?;
            let read = ready.try_io(|fd| {
                let mut space = [const { MaybeUninit::uninit() }; READ];
                let (space, _) = space.split_at_mut(most.min(READ));
                let (bytes, _) = rustix::io::read(fd, space)?;
                buffer.extend_from_slice(bytes);
                Ok(bytes.len())
            });
            let Ok(read) = read else { continue };
            // Whoever waits for a key's echo would wait for one more read that finds nothing. What comes after this one
            // wakes us anew.
            if let Ok(bytes @ 1..SHORT) = read
                && bytes < most
            {
                ready.clear_ready_matching(Ready::READABLE);
            }
            return read;
        }
    }

    /// Writes what the terminal takes; returns how many bytes that were.
    pub(super) async fn write(&self, data: &[u8]) -> io::Result<usize> {
        self.0.async_io(Interest::WRITABLE, |fd| Ok(rustix::io::write(fd, data)?)).await
    }

    /// The group in the foreground.
    pub(super) fn foreground(&self) -> Option<Pid> {
        tcgetpgrp(self.0.as_fd()).ok()
    }

    /// Sets width and height in characters.
    pub(super) fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(self.0.as_fd(), size)?)
    }
}
