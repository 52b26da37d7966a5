//! The accept loop: takes connections while there is room, and backs off when the machine has no more descriptors.

use super::{Crowd, connection};
use crate::app::App;
use crate::log;
use policy_lang::endpoint::Listener;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// First wait after accepting failed for lack of resources; it doubles up to
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// this.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Accepts until the server stops. Connections become tasks of `tasks`.
pub async fn listen(
    app: Arc<App>,
    socket: TcpListener,
    listener: Listener,
    crowd: Arc<Crowd>,
    tasks: TaskTracker,
) {
    let accepting = async {
        let mut wait = FIRST_WAIT;
        loop {
            match socket.accept().await {
                Ok((stream, address)) => {
                    wait = FIRST_WAIT;
                    let Some(member) = crowd.join().await else { return };
                    tasks.spawn(connection(
                        Arc::clone(&app),
                        stream,
                        address.ip().to_canonical(),
                        listener,
                        member,
                    ));
                }
                // The client gave up while it waited to be accepted.
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    log::say(format_args!("accepting connections pauses: {error}"));
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
        }
    };
    tokio::select! {
        () = app.stopping.cancelled() => {}
        () = accepting => {}
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
