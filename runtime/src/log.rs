//! What the server says to whoever reads its log: a line on stderr. Decisions go to the audit log instead.

use std::fmt::Arguments;
use std::io::Write;

/// Writes one line. A closed stderr is nobody's fault.
pub(crate) fn say(text: Arguments<'_>) {
    let line = format!("agent-sandbox-server: {text}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Writes a text of several lines as it is; nothing where it is empty.
pub(crate) fn show(text: &str) {
    if !text.is_empty() {
        let _ = std::io::stderr().lock().write_all(format!("{}\n", text.trim_end()).as_bytes());
    }
}
