//! What callers write: words that must all occur, `"phrases"`, `begin*`, and `-without`. Everything else is plain text: no
//! caller writes expressions of the index.

use super::words::{is_unspaced, spaced};

/// Longest query, in characters,
const LONGEST: usize = 1000;
/// and most terms.
const MOST_TERMS: usize = 32;

/// A query that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The expression.
    pub(super) expression: String,
    /// The words that are wanted, lower case, for the snippet.
    pub(super) wanted: Vec<String>,
}

/// Why a query cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It holds no word that is wanted.
    #[error("query must hold a word to look for")]
    Empty,
    /// A quotation mark is alone.
    #[error("query has a quotation mark without its other")]
    Quote,
    /// It is longer, or has more terms, than a query may.
    #[error("query is longer than 1000 characters or has more than 32 terms")]
    Long,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.chars().count() > LONGEST {
            return Err(QueryError::Long);
        }
        let (mut with, mut without, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let unwanted =
                rest.strip_prefix('-').filter(|after| !after.starts_with([' ', '-']) && !after.is_empty());
            rest = unwanted.unwrap_or(rest);
            let (words, prefix, after) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (phrase, after) = quoted.split_once('"').ok_or(QueryError::Quote)?;
                    (phrase, false, after)
                }
                None => {
                    let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                    (word.trim_end_matches('*'), word.ends_with('*'), after)
                }
            };
            rest = after.trim_start();
            if !words.chars().any(|character| character.is_alphanumeric() || is_unspaced(character)) {
                continue;
            }
            let star = if prefix { "*" } else { "" };
            let term = format!("\"{}\"{star}", spaced(words).replace('"', "\"\""));
            if unwanted.is_some() {
                without.push(term);
            } else {
                with.push(term);
                wanted.push(words.to_lowercase());
            }
        }
        if with.len() + without.len() > MOST_TERMS {
            return Err(QueryError::Long);
        }
        if with.is_empty() {
            return Err(QueryError::Empty);
        }
        let mut expression = with.join(" AND ");
        if !without.is_empty() {
            expression = format!("({expression}) NOT ({})", without.join(" OR "));
        }
        Ok(Self { expression, wanted })
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, QueryError};

    #[test]
    fn queries_become_expressions() {
        for (text, expression) in [
            ("Red  fish", r#""Red" AND "fish""#),
            (r#""two words" pre*"#, r#""two words" AND "pre"*"#),
            ("a -b -\"c d\"", r#"("a") NOT ("b" OR "c d")"#),
            ("NEAR(a b) title:x", r#""NEAR(a" AND "b)" AND "title:x""#),
            ("a - b -- ** c", r#""a" AND "b" AND "c""#),
            ("部署", "\" 部  署 \""),
        ] {
            assert_eq!(Query::parse(text).map(|query| query.expression).as_deref(), Ok(expression), "{text}");
        }
    }

    #[test]
    fn what_asks_for_nothing_is_refused() {
        for (text, error) in [
            ("", QueryError::Empty),
            ("  * -", QueryError::Empty),
            ("-a", QueryError::Empty),
            ("a \"b", QueryError::Quote),
            (&"a".repeat(1001), QueryError::Long),
            (&"a ".repeat(33), QueryError::Long),
        ] {
            assert_eq!(Query::parse(text), Err(error), "{text}");
        }
    }
}
