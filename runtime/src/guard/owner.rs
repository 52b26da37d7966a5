//! Whose a new file or directory is: his to whom the folder around it belongs, so that a child that runs as another user
//! than the server goes on with what was put there for it.

use rustix::fd::AsFd;
use rustix::fs::{Dir, Gid, Uid, fchown, fstat};
use rustix::process::geteuid;

/// Gives a file that was just made within `folder` to the owner of the folder. Without the right to give it away it stays
/// the server's.
pub fn give_file(folder: impl AsFd, made: impl AsFd) {
    if let Some((user, group)) = other_owner(folder) {
        let _ = fchown(made, Some(user), Some(group));
    }
}

/// The same for a directory, which was opened by its name after it was made: the folder's owner may have put another in
/// its place. Only an empty one of the server's own is given away.
pub fn give_directory(folder: impl AsFd, made: impl AsFd) {
    let Some((user, group)) = other_owner(folder) else { return };
    let own = fstat(&made).is_ok_and(|stat| stat.st_uid == geteuid().as_raw());
    if own && is_empty(&made) {
        let _ = fchown(made, Some(user), Some(group));
    }
}

/// The owner of a folder, unless it is the server.
fn other_owner(folder: impl AsFd) -> Option<(Uid, Gid)> {
    let stat = fstat(folder).ok()?;
    let other = stat.st_uid != geteuid().as_raw();
    other.then(|| (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid)))
}

fn is_empty(dir: impl AsFd) -> bool {
    let Ok(mut entries) = Dir::read_from(dir) else { return false };
    entries.all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
}
