//! Picture of the page.
//!
//! # Request
//! `full_page` (false), `selector` of one element instead, `format`: `png` (default) or `jpeg`, `quality` of a jpeg from 0
//! to 100 (80).
//!
//! # Response
//! `{"image_base64", "width", "height"}`; what is seen without scrolling is 1280 × 720.
//!
//! # Limits
//! `limits.timeout_seconds` (60), of which 30 s are used; `limits.max_output_bytes` of the picture in base64. No side may be
//! longer than 16384 pixels.
//!
//! # Errors
//! 400 `invalid_parameter`; 408 `timeout` where no such element is to be seen; 413 `file_too_large`; 503
//! `browser_unavailable`.
//!
//! # Policy
//! `limits`.
//!
//! ```sh
//! curl -X POST http://localhost:9000/browser/screenshot -H 'Content-Type: application/json' -d '{"full_page": true}'
//! ```

use super::{Time, end, fits, visit};
use crate::browser::{PictureKind, Shot};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use serde::Serialize;
use tokio::time::timeout_at;

/// The quality of a jpeg where nobody says.
const QUALITY: u8 = 80;

#[derive(Debug, Serialize)]
struct Response {
    image_base64: String,
    width: u64,
    height: u64,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let whole = body.flag("full_page", false)?;
    let selector = body.text("selector")?;
    let format = body.text("format")?;
    let quality = body.integer("quality")?;
    let kind = match (format.as_deref(), quality) {
        (None | Some("png"), None) => PictureKind::Png,
        (None | Some("png"), Some(_)) => {
            return Err(ApiError::invalid("quality", "quality is for the format jpeg"));
        }
        (Some("jpeg"), None) => PictureKind::Jpeg(QUALITY),
        (Some("jpeg"), Some(quality)) => match u8::try_from(quality) {
            Ok(quality @ 0..=100) => PictureKind::Jpeg(quality),
            _ => return Err(ApiError::invalid("quality", "quality must be from 0 to 100")),
        },
        (Some(_), _) => return Err(ApiError::invalid("format", "format must be png or jpeg")),
    };
    let time = Time::usual(&call);
    let shot = match (&selector, whole) {
        (Some(_), true) => {
            return Err(ApiError::invalid("full_page", "full_page and selector exclude each other"));
        }
        (Some(selector), false) => Shot::Element(selector, time.asked),
        (None, true) => Shot::Whole,
        (None, false) => Shot::Visible,
    };
    let visit = visit(&call, time).await?;
    let outcome = timeout_at(time.deadline, visit.page().picture(&shot, kind)).await;
    let picture = end(visit, time, outcome)?;
    fits(&call, picture.base64.len())?;
    Ok(Reply::ok(&Response { image_base64: picture.base64, width: picture.width, height: picture.height }))
}
