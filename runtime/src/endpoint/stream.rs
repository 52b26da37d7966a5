//! A request body read piece by piece: bounded in bytes, and refused when the client is too slow.

use super::note::Note;
use crate::error::{ApiError, ErrorCode};
use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::Instant;

/// A client must send this much
pub(crate) const SLOW_BYTES: u64 = 30 * 1024;
/// in every stretch of waiting this long.
pub(crate) const SLOW_WINDOW: Duration = Duration::from_secs(30);

/// The body of one request.
#[derive(Debug)]
pub struct BodyStream {
    body: Body,
    limit: u64,
    read: u64,
    /// Time spent waiting for the client since `read` was `window_from`. A slow disk on our side does not count.
    waited: Duration,
    window_from: u64,
    note: Note,
}

impl BodyStream {
    pub(crate) fn new(body: Body, limit: u64, note: Note) -> Self {
        Self { body, limit, read: 0, waited: Duration::ZERO, window_from: 0, note }
    }

    pub(crate) fn empty() -> Self {
        Self::new(Body::empty(), 0, Note::default())
    }

    /// Bytes read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// 413 past the limit, 408 where the client sends less than 1 KiB/s over 30 s, 400 where it stops half-way.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let began = Instant::now();
            let patience = SLOW_WINDOW.saturating_sub(self.waited);
            let Ok(frame) = tokio::time::timeout(patience, self.body.frame()).await else {
                return Err(ApiError::new(ErrorCode::Timeout, "The request body arrives too slowly"));
            };
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| {
                ApiError::new(
                    ErrorCode::InvalidParameter,
                    "The request body ended before its announced length",
                )
            })?;
            let Ok(data) = frame.into_data() else { continue };
            self.count(data.len() as u64, began.elapsed())?;
            return Ok(Some(data));
        }
    }

    fn count(&mut self, bytes: u64, waited: Duration) -> Result<(), ApiError> {
        self.read += bytes;
        self.note.received(self.read);
        self.waited += waited;
        if self.read - self.window_from >= SLOW_BYTES {
            self.window_from = self.read;
            self.waited = Duration::ZERO;
        }
        if self.read > self.limit { Err(too_large(self.limit)) } else { Ok(()) }
    }
}

/// 413 with the limit that was passed, in bytes.
pub(crate) fn too_large(limit: u64) -> ApiError {
    ApiError::new(ErrorCode::RequestTooLarge, format!("The request body is larger than {limit} bytes"))
        .with("limit", limit)
}

#[cfg(test)]
mod tests {
    use super::{BodyStream, SLOW_WINDOW};
    use crate::endpoint::Note;
    use axum::body::Body;
    use futures_util::stream;
    use std::convert::Infallible;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    /// A body that sends `piece` every `pause`, for ever.
    fn dripping(piece: &'static [u8], pause: Duration) -> BodyStream {
        let drops = stream::unfold((), move |()| async move {
            sleep(pause).await;
            Some((Ok::<_, Infallible>(piece), ()))
        });
        BodyStream::new(Body::from_stream(drops), u64::MAX, Note::default())
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_a_second_is_too_slow() {
        let mut body = dripping(b"x", Duration::from_secs(1));
        let began = Instant::now();
        let error = loop {
            if let Err(error) = body.chunk().await {
                break error;
            }
        };
        assert_eq!(error.code().as_str(), "timeout");
        assert_eq!(began.elapsed(), SLOW_WINDOW);
    }

    #[tokio::test(start_paused = true)]
    async fn two_kilobytes_a_second_are_not() {
        let mut body = dripping(&[0; 2048], Duration::from_secs(1));
        for _ in 0..600 {
            assert!(body.chunk().await.unwrap().is_some());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not_the_clients_fault() {
        let mut body = dripping(b"x", Duration::from_millis(1));
        for _ in 0..10 {
            sleep(SLOW_WINDOW).await;
            assert!(body.chunk().await.is_ok());
        }
    }

    #[tokio::test]
    async fn the_limit_is_exact() {
        for (limit, fits) in [(5, true), (4, false)] {
            let mut body = BodyStream::new(Body::from("12345"), limit, Note::default());
            assert_eq!(body.chunk().await.is_ok(), fits);
        }
    }
}
