//! Files of a folder in which the agent leaves what it made. Links are not followed: they may lead anywhere.

use super::{Found, Source, event};
use crate::agents::log::NewEvent;
use crate::agents::store::{Place, StoreError};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Most files of one turn,
const MOST_FILES: usize = 200;
/// the largest of them,
const MOST_BYTES: u64 = 50 << 20;
/// and how deep folders may lie in each other.
const DEEPEST: usize = 8;

/// Stores the files beneath `folder`, and yields the events that make them artifacts of the session. Those that it has
/// already give no event when they are appended. What is no plain file, or too large, is left out.
///
/// # Errors
/// That the bytes cannot be stored. A folder that is not there holds nothing.
pub async fn outputs(place: &Place, session_id: &str, folder: &Path) -> Result<Vec<NewEvent>, StoreError> {
    let (place, session_id, folder) = (place.clone(), session_id.to_owned(), folder.to_owned());
    let stored = tokio::task::spawn_blocking(move || {
        let mut files = Vec::new();
        gather(&folder, 0, &mut files);
        files.sort();
        let mut events = Vec::new();
        for path in files {
            let Ok(bytes) = read(&path) else { continue };
            let name = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy().into_owned();
            let mime_type = mime_type(&name).to_owned();
            events.push(event(Found::keep(
                &place,
                &session_id,
                name,
                mime_type,
                &bytes,
                Source::OutputsDir,
            )?));
        }
        Ok(events)
    });
    stored.await.map_err(|_| StoreError::Stopped)?
}

fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if files.len() >= MOST_FILES {
            return;
        }
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST {
            gather(&entry.path(), depth + 1, files);
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // What was a file a moment ago may be a link or a pipe now.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file =
        OpenOptions::new().read(true).custom_flags(i32::try_from(flags).unwrap_or_default()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// By the end of the name, for the few kinds that people look at.
fn mime_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("txt" | "log") => "text/plain",
        Some("md") => "text/markdown",
        Some("html" | "htm") => "text/html",
        Some("csv") => "text/csv",
        Some("json") => "application/json",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("svg") => "image/svg+xml",
        Some("webp") => "image/webp",
        Some("zip") => "application/zip",
        _ => "application/octet-stream",
    }
}
