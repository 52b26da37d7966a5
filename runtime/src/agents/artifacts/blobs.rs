//! The folder of bytes: `blobs/<first two digits>/<sha256>`, each file written whole or not at all.

use crate::agents::store::Place;
use sha2::{Digest as _, Sha256};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// Stores bytes; yields their hash in hex.
pub(super) fn write(place: &Place, bytes: &[u8]) -> io::Result<String> {
    let hash = hex(bytes);
    let path = path(place, &hash)?;
    if path.exists() {
        return Ok(hash);
    }
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A name of its own: two may store the same bytes at the same time.
    let draft = folder.join(format!(".{}", ulid::Ulid::generate()));
    let stored = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&draft, &path)?;
        File::open(folder)?.sync_all()
    })();
    if stored.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    stored.map(|()| hash)
}

/// Reads bytes back, and makes sure that they are what was stored.
pub(super) fn read(place: &Place, hash: &str) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(path(place, hash)?)?;
    if hex(&bytes) != hash {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a stored artifact has changed"));
    }
    Ok(bytes)
}

/// Removes bytes; yields how many.
pub(super) fn remove(place: &Place, hash: &str) -> u64 {
    let Ok(path) = path(place, hash) else { return 0 };
    let length = std::fs::metadata(&path).map_or(0, |found| found.len());
    match std::fs::remove_file(&path) {
        Ok(()) => length,
        Err(_) => 0,
    }
}

fn path(place: &Place, hash: &str) -> io::Result<PathBuf> {
    let digits = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let first = hash.get(..2).filter(|_| digits).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(place.folder().join("blobs").join(first).join(hash))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
