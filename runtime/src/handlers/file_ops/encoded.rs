//! Answers that hold base64, written while the content is read.
//!
//! The length is known before the first byte, so it is announced; memory holds two chunks however long the content is.

use super::intake::query_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use crate::files::{Stop, encode};
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_LENGTH;
use bytes::Bytes;
use std::io::Read;
use tokio::sync::mpsc;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Chunks on their way from the reading thread to the client.
const IN_FLIGHT: usize = 2;

/// The file that the query names: `{"path", "content_base64"` and `more`, which gets its length and closes the object.
pub(super) async fn file(scene: Scene, call: Call, more: fn(u64) -> String) -> Answer {
    let asked = query_path(&call, &scene)?;
    let note = call.note().clone();
    // The scene's own ends with the handler, before the body is sent.
    let stop = Stop::at(scene.stop().deadline());
    let answer = scene.blocking(move |scene| {
        let file = scene.open(&asked, &note)?;
        let path = Name::of(&file.path);
        let exact = path.base64.map_or_else(String::new, |path| format!(r#""path_base64":"{path}","#));
        let prefix = format!(r#"{{"path":{},{exact}"content_base64":""#, quoted(&path.text)?);
        let size = file.size;
        reply(prefix, file, size, more(size), &stop)
    });
    answer.await
}

/// `prefix`, the base64 of `size` bytes of `content`, `suffix`. Content that ends early cuts the connection: the client
/// must not take half a file for a whole one.
pub(super) fn reply(
    prefix: String,
    content: impl Read + Send + 'static,
    size: u64,
    suffix: String,
    stop: &Stop,
) -> Result<Reply, ApiError> {
    let source = Source { content, left: size, prefix: Some(prefix), suffix: Some(suffix) };
    let length = source.length();
    if size <= encode::CHUNK as u64 {
        return small(source);
    }
    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    let stop = stop.clone();
    tokio::task::spawn_blocking(move || send(source, &stop, &sender));
    let body = Body::from_stream(futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    }));
    Ok(Reply::stream(JSON, body).header(CONTENT_LENGTH, HeaderValue::from(length)))
}

/// All of it at once.
fn small<R: Read>(mut source: Source<R>) -> Result<Reply, ApiError> {
    let mut whole = Vec::with_capacity(usize::try_from(source.length()).unwrap_or_default());
    loop {
        match source.next() {
            Ok(Some(piece)) => whole.extend_from_slice(piece.as_bytes()),
            Ok(None) => return Ok(Reply::full(axum::http::StatusCode::OK, JSON, whole)),
            Err(_) => return Err(ApiError::internal("The file could not be read").kind("OSError")),
        }
    }
}

fn send<R: Read>(mut source: Source<R>, stop: &Stop, sender: &mpsc::Sender<std::io::Result<Bytes>>) {
    loop {
        let piece = stop.check().map_err(std::io::Error::other).and_then(|()| source.next());
        let (piece, last) = match piece {
            Ok(Some(piece)) => (Ok(Bytes::from(piece)), false),
            Ok(None) => return,
            Err(error) => (Err(error), true),
        };
        // A closed channel: the client has left.
        if sender.blocking_send(piece).is_err() || last {
            return;
        }
    }
}

/// The text of an answer, piece by piece.
struct Source<R> {
    content: R,
    left: u64,
    prefix: Option<String>,
    suffix: Option<String>,
}

impl<R: Read> Source<R> {
    fn length(&self) -> u64 {
        let frame = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
        frame(&self.prefix) + encode::encoded_len(self.left) + frame(&self.suffix)
    }

    fn next(&mut self) -> std::io::Result<Option<String>> {
        if let Some(prefix) = self.prefix.take() {
            return Ok(Some(prefix));
        }
        if self.left == 0 {
            return Ok(self.suffix.take());
        }
        let want = usize::try_from(self.left).unwrap_or(usize::MAX).min(encode::CHUNK);
        let mut chunk = vec![0; want];
        self.content.read_exact(&mut chunk)?;
        self.left -= want as u64;
        let mut text = String::with_capacity(want.div_ceil(3) * 4);
        encode::encode(&chunk, &mut text);
        Ok(Some(text))
    }
}

/// A string as JSON, with its quotes.
fn quoted(text: &str) -> Result<String, ApiError> {
    serde_json::to_string(text).map_err(|_| ApiError::internal("The answer could not be written"))
}
