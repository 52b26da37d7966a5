//! Making a directory with its parents.

use super::{Access, FilesError};
use crate::guard::{GuardError, Kind, Last, NormalPath, Op, give_directory};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Makes a directory, durable when this returns. One that exists is left as it is.
///
/// # Errors
///
/// A refusal, [`FilesError::AlreadyExists`] where something else lies there, no space, or the system's error.
pub fn mkdir(access: Access<'_>, path: &NormalPath) -> Result<Vec<u8>, FilesError> {
    let place = match access.guard.place(access.judge, path, Op::Write, Last::Follow, true) {
        Err(GuardError::IsRoot) => return Ok(path.as_bytes().to_vec()),
        place => place.map_err(FilesError::from_guard)?,
    };
    match rustix::fs::mkdirat(&place.dir, place.name.as_slice(), Mode::from_bits_truncate(0o777)) {
        Ok(()) => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::openat(&place.dir, place.name.as_slice(), flags, Mode::empty())?;
            give_directory(&place.dir, made);
            access.guard.sync(&place.dir)?;
        }
        Err(Errno::EXIST) if place.kind() == Some(Kind::Directory) => {}
        Err(Errno::EXIST) => {
            let stat =
                rustix::fs::statat(&place.dir, place.name.as_slice(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
            if crate::guard::kind_of(&stat) != Kind::Directory {
                return Err(FilesError::AlreadyExists);
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(place.path)
}
