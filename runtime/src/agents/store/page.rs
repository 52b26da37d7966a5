//! Limits and cursors of lists. A cursor is opaque to callers: what it says is where the last page ended.

use crate::error::{ApiError, ErrorCode};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// How many entries a page has where nobody says otherwise.
const USUAL: u64 = 50;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Most entries, at least 1.
    pub limit: usize,
    /// Where the last page ended.
    pub after: Option<String>,
}

impl Page {
    /// What `limit` and `cursor` say, and what the policy allows at most. `list` names the list, so that the cursor of
    /// one is none of another.
    ///
    /// # Errors
    /// 400 `invalid_parameter` for a limit of 0, 400 `invalid_cursor` for a cursor that this server did not give.
    pub fn new(list: &str, limit: Option<u64>, cursor: Option<&str>, most: u64) -> Result<Self, ApiError> {
        let limit = match limit {
            Some(0) => return Err(ApiError::invalid("limit", "limit must be at least 1")),
            Some(limit) => limit.min(most),
            None => USUAL.min(most),
        };
        let after =
            cursor.filter(|cursor| !cursor.is_empty()).map(|cursor| read(list, cursor)).transpose()?;
        Ok(Self { limit: usize::try_from(limit.max(1)).unwrap_or(usize::MAX), after })
    }

    /// Takes what is beyond the page off `entries`, which were asked for with one more than the limit, and says where
    /// the next page begins.
    #[must_use]
    pub fn next<T>(&self, list: &str, entries: &mut Vec<T>, place: impl Fn(&T) -> String) -> Option<String> {
        if entries.len() <= self.limit {
            return None;
        }
        entries.truncate(self.limit);
        entries.last().map(|last| cursor(list, &place(last)))
    }

    /// One more than the page holds, for the query.
    #[must_use]
    pub fn fetch(&self) -> i64 {
        i64::try_from(self.limit.saturating_add(1)).unwrap_or(i64::MAX)
    }

    /// The place as a number, for lists that are ordered by one.
    ///
    /// # Errors
    /// 400 `invalid_cursor`.
    pub fn after_number(&self) -> Result<Option<i64>, ApiError> {
        self.after.as_deref().map(|text| text.parse().map_err(|_| invalid())).transpose()
    }
}

/// The cursor of a place in a list.
#[must_use]
pub fn cursor(list: &str, place: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}:{place}"))
}

fn read(list: &str, cursor: &str) -> Result<String, ApiError> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let text = String::from_utf8(bytes).map_err(|_| invalid())?;
    let place = text.strip_prefix(list).and_then(|rest| rest.strip_prefix(':')).ok_or_else(invalid)?;
    Ok(place.to_owned())
}

fn invalid() -> ApiError {
    ApiError::new(ErrorCode::InvalidCursor, "cursor is not one that this list gave")
        .with("parameter", "cursor")
}

#[cfg(test)]
mod tests {
    use super::{Page, cursor};

    #[test]
    fn a_page_says_where_the_next_begins() {
        let page = Page::new("turns", Some(2), None, 100).unwrap();
        let mut entries = vec![1, 2, 3];
        let next = page.next("turns", &mut entries, ToString::to_string);
        assert_eq!((entries, next.as_deref()), (vec![1, 2], Some(cursor("turns", "2").as_str())));
        let page = Page::new("turns", None, next.as_deref(), 100).unwrap();
        assert_eq!((page.limit, page.after_number().unwrap()), (50, Some(2)));
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for text in ["x", "****", cursor("items", "2").as_str()] {
            let error = Page::new("turns", None, Some(text), 100).unwrap_err();
            assert_eq!(error.code().as_str(), "invalid_cursor", "{text}");
        }
    }

    #[test]
    fn the_policy_bounds_the_limit() {
        assert_eq!(Page::new("turns", Some(5000), None, 200).unwrap().limit, 200);
        assert!(Page::new("turns", Some(0), None, 200).is_err());
    }
}
