//! The scripted agent: the other end of the wire in tests, so that this end is not tested against itself.
//!
//! Framing, ids and cancellation are those of the protocol's official crate, and every message that it knows is read by
//! that crate's types; what a client sends wrong is refused as a real agent would. The text of a prompt chooses what
//! happens, a line a scene; see [`scenes`]. Frames that no crate would write are written to standard output as they are.
//!
//! Flags: `--can NAME,…` (abilities: `load`, `resume`, `list`, `close`, `delete`, `fork`, `logout`, `steering`, `image`,
//! `audio`, `embedded`, `http`, `sse`, `dirs`), `--offer NAME,…` (`modes`, `config`, `levels`, `models`), `--auth NAME,…`
//! (`agent`, `terminal`, `env`), `--require-auth`, `--store FILE` (conversations that outlive the process), `--early` (an
//! update before the answer that names its session), `--sleepy` (a branch that is live only once it is taken up),
//! `--name NAME`, `--noise` (text on standard output
//! first), `--ignore-term`, `--ignore-eof`, `--escape` (a child in a session of its own), `--die N` (at once, with that
//! status), `--login` (what a terminal sign-in runs).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test program: what goes wrong is a failed test"
)]

mod answers;
mod scenes;
mod state;

use agent_client_protocol::v1::{ConnectionTo, Dispatch};
use agent_client_protocol::{Agent, ByteStreams, Client, UntypedMessage};
use state::{Peer, Setup};
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

#[tokio::main]
async fn main() {
    let setup = Setup::read(std::env::args().skip(1));
    if let Some(status) = setup.die {
        eprintln!("dying as asked");
        std::process::exit(status);
    }
    if setup.login {
        return login();
    }
    prepare(&setup);
    let (ours, crates) = tokio::io::duplex(1 << 16);
    // One writer, so that raw lines and those of the crate never mix within a line.
    tokio::spawn(async move {
        let mut lines = BufReader::new(ours).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            raw(&line);
        }
    });
    let peer = Arc::new(Peer::new(setup));
    let transport = ByteStreams::new(crates.compat_write(), stdin().compat());
    let handling = Arc::clone(&peer);
    let served = Agent
        .v1()
        .name("scripted")
        .on_receive_dispatch(
            async move |message: Dispatch<UntypedMessage, UntypedMessage>, cx: ConnectionTo<Client>| {
                answers::handle(&handling, message, &cx)
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .connect_to(transport)
        .await;
    if let Err(error) = served {
        eprintln!("the connection failed: {error}");
    }
    if peer.setup.ignore_eof {
        std::future::pending::<()>().await;
    }
}

/// Standard input, read by a thread of its own.
fn stdin() -> tokio::io::DuplexStream {
    let (reader, mut writer) = tokio::io::duplex(1 << 16);
    let handle = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let (mut input, mut buffer) = (std::io::stdin().lock(), [0; 1 << 16]);
        while let Ok(read @ 1..) = input.read(&mut buffer) {
            let piece = buffer.get(..read).unwrap_or_default();
            if handle.block_on(writer.write_all(piece)).is_err() {
                return;
            }
        }
    });
    reader
}

/// Writes a line to standard output as it is.
fn raw(line: &str) {
    let mut out = std::io::stdout().lock();
    // The other end may be gone.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}

/// What a terminal sign-in runs: asks one thing and remembers nothing.
fn login() {
    println!("code?");
    let mut code = String::new();
    std::io::stdin().read_line(&mut code).unwrap();
    std::process::exit(i32::from(code.trim() != "open sesame"));
}

fn prepare(setup: &Setup) {
    eprintln!("scripted agent started");
    if setup.noise {
        println!("welcome to the scripted agent");
        println!("{{\"not\": \"a message\"}}");
    }
    if setup.ignore_term {
        // The shell's own way to ignore a signal holds for what it then becomes.
        if std::env::var_os("SCRIPTED_TRAPPED").is_none() {
            use std::os::unix::process::CommandExt as _;
            let own = std::env::current_exe().unwrap();
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "trap '' TERM; exec \"$0\" \"$@\""]).arg(own).args(std::env::args().skip(1));
            let error = shell.env("SCRIPTED_TRAPPED", "1").exec();
            panic!("{error}");
        }
    }
    if setup.escape {
        let child = std::process::Command::new("setsid").args(["sleep", "1000"]).spawn();
        drop(child.unwrap());
    }
}
