//! The signals that tell a server to stop, or to read its policy anew.

use crate::log;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a server obeys.
pub(super) struct Signals {
    /// SIGTERM and SIGINT.
    pub(super) stop: [Heard; 2],
    /// SIGHUP.
    pub(super) reload: Heard,
}

impl Signals {
    /// Listens from here on.
    pub(super) fn listen() -> Self {
        Self {
            stop: [
                Heard::of(SignalKind::terminate(), "SIGTERM"),
                Heard::of(SignalKind::interrupt(), "SIGINT"),
            ],
            reload: Heard::of(SignalKind::hangup(), "SIGHUP"),
        }
    }
}

/// A signal; nothing where the system does not let us hear it.
pub(super) struct Heard(Option<Signal>);

impl Heard {
    fn of(kind: SignalKind, name: &str) -> Self {
        let deaf = |error| log::say(format_args!("cannot listen to {name}: {error}"));
        Self(signal(kind).map_err(deaf).ok())
    }

    pub(super) async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Waits for one of them.
pub(super) async fn any([one, other]: &mut [Heard; 2]) {
    tokio::select! {
        () = one.next() => {}
        () = other.next() => {}
    }
}
