//! Prints the page to a document.

use super::super::error::BrowserError;
use super::{Page, pdf};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

/// A sheet, in inches, upright.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paper {
    width: f64,
    height: f64,
}

/// The sheets there are, by name.
const PAPERS: [(&str, f64, f64); 11] = [
    ("Letter", 8.5, 11.0),
    ("Legal", 8.5, 14.0),
    ("Tabloid", 11.0, 17.0),
    ("Ledger", 17.0, 11.0),
    ("A0", 33.1, 46.8),
    ("A1", 23.4, 33.1),
    ("A2", 16.54, 23.4),
    ("A3", 11.7, 16.54),
    ("A4", 8.27, 11.7),
    ("A5", 5.83, 8.27),
    ("A6", 4.13, 5.83),
];

/// A document.
#[derive(Debug)]
pub struct Printed {
    /// In base64.
    pub base64: String,
    /// Its pages.
    pub pages: u64,
}

#[derive(Debug, Deserialize)]
struct Answer {
    data: String,
}

impl Paper {
    /// The sheet of that name, whatever the case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let paper = PAPERS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name));
        paper.map(|(_, width, height)| Self { width: *width, height: *height })
    }

    /// Their names.
    #[must_use]
    pub fn names() -> String {
        PAPERS.map(|(name, _, _)| name).join(", ")
    }
}

impl Page {
    /// Prints without margins and backgrounds, as Playwright does.
    ///
    /// # Errors
    /// The page or the browser has ended, or the document cannot be read.
    pub async fn print(&self, paper: Paper, landscape: bool) -> Result<Printed, BrowserError> {
        let params = json!({
            "paperWidth": paper.width, "paperHeight": paper.height, "landscape": landscape,
            "marginTop": 0, "marginBottom": 0, "marginLeft": 0, "marginRight": 0,
        });
        let answer: Answer = self.call("Page.printToPDF", params).await?;
        let unreadable = || BrowserError::Protocol("The document cannot be read".to_owned());
        let bytes = STANDARD.decode(&answer.data).map_err(|_| unreadable())?;
        let pages = pdf::pages(&bytes).ok_or_else(unreadable)?;
        Ok(Printed { base64: answer.data, pages })
    }
}
