//! A multipart upload on its way to the disk: this side takes the one part `file` apart from its frame, a blocking thread
//! writes it. Nothing takes the file's name before the whole frame was well formed.

use super::intake::query_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, BodyStream, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::files::FilesError;
use crate::files::write::{WriteOptions, Writer, Written};
use crate::guard::NormalPath;
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use futures_util::Stream;
use multer::Multipart;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Pieces of the body that wait for the disk.
const IN_FLIGHT: usize = 4;

/// Bytes that the frame around the content may take before something is amiss. The library buffers what it looks
/// through.
const FRAME: u64 = 1 << 20;

/// What the reading side hands over. A channel that closes without an end is an upload that was cut.
enum Piece {
    Data(Bytes),
    End,
}

/// Receives the file of a call into the path of its query.
pub(super) async fn receive(scene: Scene, mut call: Call) -> Answer {
    let path = query_path(&call, &scene)?;
    let boundary = call.headers().get(CONTENT_TYPE).and_then(|given| given.to_str().ok());
    let boundary = boundary.and_then(|given| multer::parse_boundary(given).ok()).ok_or_else(|| {
        ApiError::new(ErrorCode::UnsupportedMediaType, "The request body must be multipart/form-data")
    })?;
    let frame = Arc::new(Frame::default());
    let mut parts = Multipart::new(pieces(call.stream(), Arc::clone(&frame)), boundary);
    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    let writing = scene.blocking(move |scene| write(scene, &path, receiver));
    let reading = async move { read(&mut parts, &frame, sender).await.map_err(|fault| frame.explain(fault)) };
    let (written, read) = tokio::join!(writing, reading);
    // What is wrong with the body explains why the other side has no whole upload.
    read?;
    let written = written?;
    let path = Name::of(&written.path);
    let mut answer = json!({"path": path.text, "bytes": written.bytes});
    if let (Some(exact), Some(members)) = (path.base64, answer.as_object_mut()) {
        members.insert("path_base64".to_owned(), exact.into());
    }
    Ok(Reply::ok(&answer))
}

/// Why a body is not what it should be.
enum Fault {
    Library(multer::Error),
    Api(ApiError),
}

impl From<multer::Error> for Fault {
    fn from(error: multer::Error) -> Self {
        Self::Library(error)
    }
}

/// Takes the body apart.
async fn read(parts: &mut Multipart<'_>, frame: &Frame, sender: mpsc::Sender<Piece>) -> Result<(), Fault> {
    let mut seen = false;
    while let Some(mut part) = parts.next_field().await? {
        if part.name() != Some("file") || seen {
            let message = "The body must have exactly one part, named file";
            return Err(Fault::Api(ApiError::invalid("file", message)));
        }
        seen = true;
        frame.passed();
        while let Some(piece) = part.chunk().await? {
            frame.passed();
            // A closed channel: the writing side has its answer already.
            if sender.send(Piece::Data(piece)).await.is_err() {
                return Ok(());
            }
        }
    }
    if !seen {
        return Err(Fault::Api(ApiError::missing("file")));
    }
    let _ = sender.send(Piece::End).await;
    Ok(())
}

/// The content of the one part of a body, where the whole body is well formed. For fuzzers.
pub(crate) async fn taken_apart(body: Vec<Bytes>, boundary: &str) -> Option<Vec<u8>> {
    let body = futures_util::stream::iter(body.into_iter().map(Ok::<_, std::io::Error>));
    let (mut parts, frame) = (Multipart::new(body, boundary), Frame::default());
    let (sender, mut receiver) = mpsc::channel(IN_FLIGHT);
    let taking = async {
        let mut content = Vec::new();
        while let Some(piece) = receiver.recv().await {
            match piece {
                Piece::Data(data) => content.extend_from_slice(&data),
                Piece::End => return Some(content),
            }
        }
        None
    };
    let (read, taken) = tokio::join!(read(&mut parts, &frame, sender), taking);
    read.ok().and(taken)
}

fn write(scene: &Scene, path: &NormalPath, mut pieces: mpsc::Receiver<Piece>) -> Result<Written, ApiError> {
    let options = WriteOptions {
        overwrite: scene.may_overwrite(),
        limit: scene.limit(|limits| limits.max_bytes),
        ..WriteOptions::default()
    };
    scene.run("path", |access| {
        let mut writer = Writer::begin(access, path, options)?;
        loop {
            access.stop.check()?;
            match pieces.blocking_recv() {
                Some(Piece::Data(piece)) => writer.write(&piece)?,
                Some(Piece::End) => return writer.finish(),
                None => return Err(FilesError::Cancelled),
            }
        }
    })
}

/// What is known of the frame beside what the library knows.
#[derive(Debug, Default)]
struct Frame {
    /// Bytes that were read since content last passed.
    since: AtomicU64,
    /// Why reading stopped.
    fault: Mutex<Option<ApiError>>,
}

impl Frame {
    fn passed(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    fn fail(&self, error: ApiError) -> std::io::Error {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        std::io::Error::other("the body ended")
    }

    /// The answer to a fault: what stopped the reading, or what the library says of the frame.
    fn explain(&self, fault: Fault) -> ApiError {
        let error = match fault {
            Fault::Api(error) => return error,
            Fault::Library(error) => error,
        };
        if let Some(error) = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return error;
        }
        let message = match error {
            multer::Error::IncompleteFieldData { .. }
            | multer::Error::IncompleteHeaders
            | multer::Error::IncompleteStream => "The multipart body ended before its last boundary",
            _ => "The multipart body is not well formed",
        };
        ApiError::new(ErrorCode::InvalidParameter, message)
    }
}

/// The body, piece by piece. It gives way after each, or the library would gather all that has arrived.
fn pieces(
    body: BodyStream,
    frame: Arc<Frame>,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    futures_util::stream::unfold((body, frame, false), |(mut body, frame, again)| async move {
        if again {
            tokio::task::yield_now().await;
        }
        let piece = match body.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) => return None,
            Err(error) => return Some((Err(frame.fail(error)), (body, frame, true))),
        };
        let since = frame.since.fetch_add(piece.len() as u64, Ordering::Relaxed);
        if since > FRAME {
            let error = ApiError::new(ErrorCode::InvalidParameter, "The head of a part is too long");
            return Some((Err(frame.fail(error)), (body, frame, true)));
        }
        Some((Ok(piece), (body, frame, true)))
    })
}
