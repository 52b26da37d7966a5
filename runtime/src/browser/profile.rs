//! The folder that one run of the browser keeps its profile in: always a new one, gone with the run.
//!
//! A server that is killed leaves its folder behind. Each folder is locked while its server lives, so the next start
//! knows which are nobody's and removes them.

use crate::process::Identity;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How all such folders begin.
const PREFIX: &str = "agent-sandbox-browser-";

/// Where the browser looks for its settings, and what it finds: that nothing is loaded ahead of a navigation. Requests of that
/// kind do not stop where a page's requests are watched.
const SETTINGS: (&str, &str, &[u8]) =
    ("Default", "Default/Preferences", br#"{"net":{"network_prediction_options":2}}"#);

/// How often a folder is tried to be removed, and the pause between.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A profile; removed when dropped.
#[derive(Debug)]
pub(super) struct Profile {
    path: PathBuf,
    /// Holds the lock.
    _handle: OwnedFd,
}

impl Profile {
    /// A new, empty folder that only its owner can read, and nobody's old ones swept.
    pub(super) fn new(within: &Path, owner: Option<Identity>) -> io::Result<Self> {
        sweep(within);
        let id = uuid::Uuid::new_v4().simple();
        let (new, path) = (within.join(format!(".new-{PREFIX}{id}")), within.join(format!("{PREFIX}{id}")));
        rustix::fs::mkdir(&new, Mode::RWXU)?;
        let handle = handle(&new)?;
        rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
        let (folder, file, settings) = SETTINGS;
        rustix::fs::mkdirat(&handle, folder, Mode::RWXU)?;
        std::fs::write(new.join(file), settings)?;
        if let Some(Identity { uid, gid }) = owner {
            let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
            for path in [file, folder] {
                let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::chownat(&handle, path, Some(uid), Some(gid), flags)?;
            }
            rustix::fs::fchown(&handle, Some(uid), Some(gid))?;
        }
        // Only now, locked, does it get a name that a sweep looks at.
        std::fs::rename(&new, &path)?;
        Ok(Self { path, _handle: handle })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // A process of the browser may still be writing its last; what stays all the same is swept at the next start.
        for _ in 0..TRIES {
            match std::fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

fn handle(path: &Path) -> Result<OwnedFd, rustix::io::Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Removes the folders that no living server holds.
fn sweep(within: &Path) {
    let own = rustix::process::geteuid();
    let Ok(entries) = std::fs::read_dir(within) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // Only what this user could have made: anybody may write to a folder for temporary files.
        let may = || entry.metadata().is_ok_and(|data| own.is_root() || data.uid() == own.as_raw());
        if !ours || !may() {
            continue;
        }
        let Ok(handle) = handle(&entry.path()) else { continue };
        if rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn what_a_killed_server_left_is_swept_and_what_another_holds_is_not() {
        let within = tempfile::tempdir().unwrap();
        let (kept, other) =
            (Profile::new(within.path(), None).unwrap(), within.path().join("agent-sandbox-other"));
        let left = within.path().join("agent-sandbox-browser-0");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("SingletonLock"), "").unwrap();
        std::fs::create_dir(&other).unwrap();
        let next = Profile::new(within.path(), None).unwrap();
        assert!(!left.exists() && other.exists());
        assert!(kept.path().exists() && next.path().exists() && kept.path() != next.path());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
