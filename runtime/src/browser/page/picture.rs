//! Pictures of the page: what is seen, all of it, or one element.

use super::super::error::BrowserError;
use super::{Page, VIEWPORT};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Largest picture, in pixels: what it takes to draw one grows with this, at four bytes a pixel and more than once.
const MOST_PIXELS: u64 = 64 << 20;

/// Longest side, in pixels: beyond it nothing can be drawn at once.
const LONGEST: u64 = 16_384;

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// Without loss.
    Png,
    /// With a quality from 0 to 100.
    Jpeg(u8),
}

/// What is to be seen.
#[derive(Debug)]
pub enum Shot<'a> {
    /// What a person would see without scrolling.
    Visible,
    /// The whole page.
    Whole,
    /// One element, and how long it may take to be ready.
    Element(&'a str, Duration),
}

/// A picture.
#[derive(Debug)]
pub struct Picture {
    /// In base64.
    pub base64: String,
    /// Pixels.
    pub width: u64,
    /// Pixels.
    pub height: u64,
}

#[derive(Debug, Deserialize)]
struct Captured {
    data: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_content_size: Size,
}

#[derive(Debug, Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

/// Whole pixels of the document.
#[derive(Debug, Clone, Copy)]
struct Clip {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
}

impl Page {
    /// Takes a picture.
    ///
    /// # Errors
    /// As [`Page::click`] for an element, and [`BrowserError::TooLarge`].
    pub async fn picture(&self, shot: &Shot<'_>, kind: PictureKind) -> Result<Picture, BrowserError> {
        let clip = match shot {
            Shot::Visible => None,
            Shot::Whole => {
                let metrics: Metrics = self.call("Page.getLayoutMetrics", json!({})).await?;
                let size = metrics.css_content_size;
                let (width, height) = (u64::from(VIEWPORT.0), u64::from(VIEWPORT.1));
                let clip = Clip::around(0.0, 0.0, size.width, size.height);
                Some(Clip { width: clip.width.max(width), height: clip.height.max(height), ..clip })
            }
            Shot::Element(selector, time) => {
                let found = self.find(selector, "look", false, *time).await?;
                Some(Clip::around(found.x, found.y, found.width, found.height))
            }
        };
        let mut params = match kind {
            // Packed less tightly, in half the time.
            PictureKind::Png => json!({ "format": "png", "optimizeForSpeed": true }),
            PictureKind::Jpeg(quality) => json!({ "format": "jpeg", "quality": quality }),
        };
        let (mut width, mut height) = (u64::from(VIEWPORT.0), u64::from(VIEWPORT.1));
        if let (Some(clip), Some(params)) = (clip, params.as_object_mut()) {
            (width, height) = (clip.width, clip.height);
            if width.max(height) > LONGEST || width * height > MOST_PIXELS {
                return Err(BrowserError::TooLarge { what: "The picture", limit: LONGEST, unit: "pixels" });
            }
            let region = json!({ "x": clip.x, "y": clip.y, "width": width, "height": height, "scale": 1 });
            params.insert("clip".to_owned(), region);
            params.insert("captureBeyondViewport".to_owned(), json!(true));
        }
        let captured: Captured = self.call("Page.captureScreenshot", params).await?;
        Ok(Picture { base64: captured.data, width, height })
    }
}

impl Clip {
    /// The smallest one that holds a box.
    fn around(x: f64, y: f64, width: f64, height: f64) -> Self {
        let (left, top) = (whole(x.floor()), whole(y.floor()));
        let (right, bottom) = (whole((x + width).ceil()), whole((y + height).ceil()));
        Self { x: left, y: top, width: (right - left).max(1), height: (bottom - top).max(1) }
    }
}

/// A length in whole pixels; what lies before the page is cut.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn whole(length: f64) -> u64 {
    length.clamp(0.0, 1e9) as u64
}
