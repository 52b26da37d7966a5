//! Edits of a text, put in all at once.

use crate::diag::Edit;

/// The text with edits made; none where two of them overlap or one lies outside.
#[must_use]
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        let range = edit.span.range();
        result.push_str(text.get(from..range.start)?);
        result.push_str(&edit.replacement);
        text.get(range.clone())?;
        from = range.end;
    }
    result.push_str(text.get(from..)?);
    Some(result)
}
