//! Asks a template what it declares: a process that imports it, tells, and ends. It runs before anything else does: no
//! policy, no engine, no second thread.

use super::frame::Decoder;
use super::manifest::Manifest;
use super::target::{BOOTSTRAP, Target};
use crate::process::Identity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a template may take to be imported.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why nothing is known of a template.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// There is no interpreter.
    #[error("cannot run python3: {0}")]
    Python(std::io::Error),
    /// It raised.
    #[error("importing it failed: {kind}: {message}")]
    Raised {
        /// The exception's name.
        kind: String,
        /// Its text.
        message: String,
    },
    /// It did not come to an end.
    #[error("importing it took longer than {} seconds", PATIENCE.as_secs())]
    Slow,
    /// The process ended, or said something else.
    #[error("its process ended without saying what it declares")]
    Silent,
}

/// Imports the template with these variables and nothing else of the server's, as `identity` where one is given.
///
/// # Errors
/// See [`DescribeError`]. What Python printed has gone to standard error.
pub fn describe(
    target: &Target,
    python: &Path,
    variables: impl IntoIterator<Item = (String, String)>,
    identity: Option<Identity>,
) -> Result<Manifest, DescribeError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing takes the status of children before the server runs"
    )]
    let mut command = Command::new(python);
    command
        .args(["-c", BOOTSTRAP])
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    if let Some(Identity { uid, gid }) = identity {
        // Whoever sets the user of a child of root takes all other groups from it as well.
        command.uid(uid).gid(gid);
    }
    let mut child = Group(command.spawn().map_err(DescribeError::Python)?);
    let start = target.start().map_err(|_| DescribeError::Silent)?;
    // It is read at once, whatever the template does: the bootstrap reads it before anything else.
    let mut input = child.0.stdin.take().ok_or(DescribeError::Silent)?;
    input.write_all(&start).map_err(|_| DescribeError::Silent)?;
    let mut output = child.0.stdout.take().ok_or(DescribeError::Silent)?;
    let (until, mut decoder, mut piece) = (Instant::now() + PATIENCE, Decoder::default(), vec![0; 1 << 16]);
    loop {
        if let Some(message) = decoder.next().map_err(|_| DescribeError::Silent)? {
            if let Some(failed) = message.get("failed") {
                let text = |name: &str| {
                    failed.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
                };
                return Err(DescribeError::Raised { kind: text("type"), message: text("message") });
            }
            let ready = message.get("ready").cloned().unwrap_or_default();
            return serde_json::from_value(ready).map_err(|_| DescribeError::Silent);
        }
        let left = until.checked_duration_since(Instant::now()).ok_or(DescribeError::Slow)?;
        let left = Timespec::try_from(left).map_err(|_| DescribeError::Slow)?;
        let mut ready = [PollFd::new(&output, PollFlags::IN)];
        match poll(&mut ready, Some(&left)) {
            Ok(0) => return Err(DescribeError::Slow),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(DescribeError::Silent),
        }
        let read = output.read(&mut piece).map_err(|_| DescribeError::Silent)?;
        if read == 0 {
            return Err(DescribeError::Silent);
        }
        decoder.push(piece.get(..read).unwrap_or_default());
    }
}

/// A child with its group: both end when nobody wants to know any more.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(Some(pid)) = i32::try_from(self.0.id()).map(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}
