//! Artifacts: files, images and resources that agents hand over, kept by the hash of their bytes.
//!
//! - `blobs`: the folder of bytes
//! - `extract`: contents of messages and tool calls, taken out of events
//! - `outputs`: files of a folder in which the agent leaves what it made
//! - `rows`: the table

mod blobs;
mod extract;
mod outputs;
mod rows;

pub(super) use extract::extract;
pub use outputs::outputs;
pub(super) use rows::insert;
pub use rows::{ArtifactRow, find, list};

use super::ids;
use super::log::{Kind, NewEvent};
use super::store::{Place, StoreError};
use serde_json::Value;

/// Where an artifact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A block of a message.
    Message,
    /// A block of a tool call.
    Tool,
    /// A file of the outputs folder.
    OutputsDir,
    /// What the caller sent along.
    Attachment,
}

impl Source {
    /// The name that clients see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Tool => "tool",
            Self::OutputsDir => "outputs_dir",
            Self::Attachment => "attachment",
        }
    }
}

/// An artifact whose bytes are stored and whose row is yet to come.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) artifact_id: String,
    pub(super) name: String,
    pub(super) mime_type: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) source: Source,
}

/// Stores bytes, and yields the event that makes them an artifact of the session once it is appended.
///
/// # Errors
/// That they cannot be stored.
pub async fn keep(
    place: &Place,
    session_id: &str,
    name: String,
    mime_type: String,
    bytes: Vec<u8>,
    source: Source,
) -> Result<NewEvent, StoreError> {
    let (place, session_id) = (place.clone(), session_id.to_owned());
    let kept = tokio::task::spawn_blocking(move || {
        Found::keep(&place, &session_id, name, mime_type, &bytes, source)
    });
    let found = kept.await.map_err(|_| StoreError::Stopped)??;
    Ok(event(found))
}

/// The bytes of an artifact, whole and unchanged.
///
/// # Errors
/// That they are gone, or no longer what they were.
pub async fn bytes(place: &Place, sha256: &str) -> Result<Vec<u8>, StoreError> {
    let (place, sha256) = (place.clone(), sha256.to_owned());
    let read = tokio::task::spawn_blocking(move || blobs::read(&place, &sha256));
    Ok(read.await.map_err(|_| StoreError::Stopped)??)
}

/// Stores the bytes of artifacts whose rows follow.
pub(super) async fn store(place: &Place, all: Vec<Vec<u8>>) -> Result<(), StoreError> {
    let place = place.clone();
    let stored = tokio::task::spawn_blocking(move || {
        all.iter().try_for_each(|bytes| blobs::write(&place, bytes).map(|_| ()))
    });
    Ok(stored.await.map_err(|_| StoreError::Stopped)??)
}

/// Removes the bytes of these hashes; yields how many bytes that freed. Only for hashes that no row names.
pub(super) fn remove(place: &Place, hashes: &[String]) -> u64 {
    hashes.iter().map(|hash| blobs::remove(place, hash)).sum()
}

/// An event that is nothing but its artifact.
fn event(found: Found) -> NewEvent {
    let mut event = NewEvent::new(Kind::ArtifactCreated, Value::Null);
    event.artifacts.push(found);
    event
}

impl Found {
    fn keep(
        place: &Place,
        session_id: &str,
        name: String,
        mime_type: String,
        bytes: &[u8],
        source: Source,
    ) -> Result<Self, StoreError> {
        let sha256 = blobs::write(place, bytes)?;
        // The same bytes under the same name are the same artifact: agents send their contents again and again.
        let artifact_id =
            ids::derived(ids::ARTIFACT, 0.0, &[session_id.as_bytes(), sha256.as_bytes(), name.as_bytes()]);
        Ok(Self { artifact_id, name, mime_type, bytes: bytes.len() as u64, sha256, source })
    }
}

#[cfg(test)]
mod tests;
