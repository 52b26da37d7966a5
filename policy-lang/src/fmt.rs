//! Formatting of policy documents: blanks alone change, and never what a text says.
//!
//! Two spaces a level, lists below their key, one blank line at most, `{ a: 1 }` and `[a, b]`, no blanks at the end of a
//! line. Comments, the order of keys, quotes and line ends stay. In a template only what is ours is touched: `server:` and
//! `server_tests:`. [`yaml`](self) moves blanks, [`json`](self) lays out a JSON document anew, [`same`](self) proves that the
//! result reads as before.

mod flow;
mod json;
mod lines;
mod region;
mod same;

use crate::diag::Diagnostic;
use crate::parse::{self, Format, Layout};
use crate::source::SourceMap;

/// Why a document is left alone.
#[derive(Debug)]
pub enum Unformatted {
    /// It cannot be read; the findings say why, about the source of this map.
    Faulty(SourceMap, Vec<Diagnostic>),
    /// The layout is such that the result would not read as before. A fault of the formatter.
    Different,
}

/// Formats a document.
///
/// # Errors
/// Where it cannot be read, or could not be formatted without changing what it says.
pub fn format(name: &str, text: &str, format: Format) -> Result<String, Unformatted> {
    let mut sources = SourceMap::new();
    let source = sources.add(name, text);
    let (root, found) = parse::policy(&sources, source, format);
    let Some(root) = root.filter(|_| found.is_empty()) else {
        return Err(Unformatted::Faulty(sources, found));
    };
    let flow = text.get(root.span.range()).is_some_and(|root| root.starts_with('{'));
    let formatted = if flow
        && serde_json::from_str::<serde::de::IgnoredAny>(text.trim_start_matches('\u{feff}')).is_ok()
    {
        json::format(text, &root)
    } else {
        let layout = Layout::of(text);
        lines::format(text, &layout, &region::of(text, &root))
    };
    let mut again = SourceMap::new();
    let source = again.add(name, formatted.as_str());
    let (after, found) = parse::policy(&again, source, format);
    let same = found.is_empty() && after.is_some_and(|after| same::same(&root, &after));
    if same && same::comments(text, &formatted) { Ok(formatted) } else { Err(Unformatted::Different) }
}
