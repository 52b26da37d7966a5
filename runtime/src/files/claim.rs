//! Taking a name that must still be free, whatever the file system can do.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, Mode, RenameFlags};
use rustix::io::Errno;

/// A name in a directory.
pub(super) type Entry<'a, F> = (&'a F, &'a [u8]);

/// Renames, and refuses with `EXIST` where the new name is taken.
///
/// # Errors
///
/// The system's error.
pub(super) fn claim<F: AsFd>(old: Entry<'_, F>, new: Entry<'_, F>) -> Result<(), Errno> {
    match rustix::fs::renameat_with(old.0, old.1, new.0, new.1, RenameFlags::NOREPLACE) {
        // Not every file system knows the flag. A directory that would lie in itself is the same error, and stays one.
        Err(Errno::INVAL | Errno::NOSYS) => claim_in_two_steps(old, new),
        done => done,
    }
}

/// A hard link is exclusive, and so is a directory that is made; only an empty one is then replaced.
fn claim_in_two_steps<F: AsFd>(old: Entry<'_, F>, new: Entry<'_, F>) -> Result<(), Errno> {
    let stat = rustix::fs::statat(old.0, old.1, AtFlags::SYMLINK_NOFOLLOW)?;
    let (done, undo) = if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        rustix::fs::mkdirat(new.0, new.1, Mode::RWXU)?;
        (rustix::fs::renameat(old.0, old.1, new.0, new.1), AtFlags::REMOVEDIR)
    } else {
        rustix::fs::linkat(old.0, old.1, new.0, new.1, AtFlags::empty())?;
        (rustix::fs::unlinkat(old.0, old.1, AtFlags::empty()), AtFlags::empty())
    };
    done.inspect_err(|_| {
        // Nothing of it stays behind.
        let _ = rustix::fs::unlinkat(new.0, new.1, undo);
    })
}
