//! What the server says to whoever reads its log: lines on stderr. Decisions go to the audit log instead.
//!
//! While it starts, whoever has something to say writes it. From [`detach`] on a thread writes, so that a reader that is
//! stuck holds up neither a request nor the stop; what does not fit its queue is counted.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Texts that may wait to be written.
const WAITING: usize = 256;

static WRITER: OnceLock<SyncSender<Message>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);

enum Message {
    Text(String),
    /// Everything before it has been written when this is answered.
    Flush(Sender<()>),
}

/// Writes one line. A closed stderr is nobody's fault.
pub(crate) fn say(text: Arguments<'_>) {
    put(format!("agent-sandbox-server: {text}\n"));
}

/// Writes one line, waiting for its turn: for a thread that has nothing else to do, never in a request.
pub(crate) fn say_in_turn(text: &str) {
    let line = format!("agent-sandbox-server: {text}\n");
    match WRITER.get() {
        None => write(&line),
        // Where the thread that writes is gone, so is the reader.
        Some(writer) => drop(writer.send(Message::Text(line))),
    }
}

/// Writes a text of several lines as it is; nothing where it is empty.
pub(crate) fn show(text: &str) {
    if !text.is_empty() {
        put(format!("{}\n", text.trim_end()));
    }
}

/// From here on a thread writes.
///
/// # Errors
/// Where the thread cannot be started.
pub(crate) fn detach() -> std::io::Result<()> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::Builder::new()
        .name("log".to_owned())
        .stack_size(128 * 1024)
        .spawn(move || run(&receiver))?;
    // A second call is not made; it would leave the first thread in charge.
    let _ = WRITER.set(sender);
    Ok(())
}

/// Waits until everything said so far is written, at most for `patience`.
pub(crate) fn flush(patience: Duration) {
    let (done, written) = channel();
    if WRITER.get().is_some_and(|writer| writer.try_send(Message::Flush(done)).is_ok()) {
        // A reader that is stuck must not keep the server from ending.
        let _ = written.recv_timeout(patience);
    }
}

fn put(text: String) {
    match WRITER.get() {
        None => write(&text),
        Some(writer) => {
            if writer.try_send(Message::Text(text)).is_err() {
                LOST.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn run(receiver: &Receiver<Message>) {
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Text(text) => write(&text),
            // Whoever asked may have lost patience.
            Message::Flush(done) => drop(done.send(())),
        }
        let lost = LOST.swap(0, Ordering::Relaxed);
        if lost > 0 {
            write(&format!("agent-sandbox-server: {lost} messages were lost, nobody read fast enough\n"));
        }
    }
}

fn write(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
