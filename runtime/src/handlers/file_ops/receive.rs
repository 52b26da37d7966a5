//! An upload on its way from the socket to the disk: this side reads the body, a blocking thread decodes and writes.

use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, BodyStream, Note, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::files::FilesError;
use crate::files::upload::{Upload, UploadError};
use crate::files::write::{WriteOptions, Written};
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;

/// Pieces of the body that wait for the disk.
const IN_FLIGHT: usize = 4;

#[derive(Serialize)]
struct Response<'a> {
    path: &'a str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<&'a str>,
}

/// What the reading side hands over. A channel that closes without an end is an upload that was cut.
enum Piece {
    Data(Bytes),
    End,
}

pub(super) async fn receive(scene: Scene, mut stream: BodyStream, note: Note) -> Answer {
    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    let writing = scene.blocking(move |scene| write(scene, receiver, &note));
    let reading = async move {
        while let Some(piece) = stream.chunk().await? {
            // A closed channel: the writing side has its answer already.
            if sender.send(Piece::Data(piece)).await.is_err() {
                return Ok(());
            }
        }
        let _ = sender.send(Piece::End).await;
        Ok::<(), ApiError>(())
    };
    let (written, read) = tokio::join!(writing, reading);
    // What is wrong with the body's transport explains why the other side has no whole upload.
    read?;
    let written = written?;
    let path = Name::of(&written.path);
    Ok(Reply::ok(&Response { path: &path.text, bytes: written.bytes, path_base64: path.base64.as_deref() }))
}

fn write(scene: &Scene, mut pieces: mpsc::Receiver<Piece>, note: &Note) -> Result<Written, ApiError> {
    let options = WriteOptions {
        overwrite: scene.may_overwrite(),
        limit: scene.limit(|limits| limits.max_bytes),
        ..WriteOptions::default()
    };
    let written = scene.access(|access| {
        let mut upload = Upload::new(access, options);
        loop {
            match pieces.blocking_recv() {
                Some(Piece::Data(piece)) => {
                    let fed = upload.feed(&piece);
                    if let Some(path) = upload.path() {
                        note.touches(String::from_utf8_lossy(path.as_bytes()));
                    }
                    fed?;
                }
                Some(Piece::End) => return upload.finish(),
                None => return Err(UploadError::Files(FilesError::Cancelled)),
            }
        }
    })?;
    written.map_err(|error| answer(scene, &error))
}

fn answer(scene: &Scene, error: &UploadError) -> ApiError {
    match error {
        UploadError::Json(fault) => ApiError::new(ErrorCode::InvalidJson, fault.0),
        UploadError::Missing(name) => ApiError::missing(name),
        UploadError::Both => ApiError::invalid("path", error.to_string()),
        UploadError::Wrong(name, shape) => ApiError::invalid(name, format!("{name} must be {shape}")),
        UploadError::Files(error) => scene.fault("path", error),
    }
}
