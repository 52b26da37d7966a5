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

/// Where a client attaches to a session: the address that the server listens on, never what a caller's `Host` says.
pub(super) fn url(app: &crate::app::App, session_id: &str) -> String {
    let host = match app.settings.host {
        host if host.is_unspecified() => "localhost".to_owned(),
        std::net::IpAddr::V6(host) => format!("[{host}]"),
        host => host.to_string(),
    };
    format!("ws://{host}:{}/pty?session_id={session_id}", app.settings.pty_port)
}
