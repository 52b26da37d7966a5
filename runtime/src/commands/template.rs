//! A word with placeholders: `--name={name}`. A value takes the place of its placeholder within the word and is never
//! split, so that no value can become a second word. `{{` and `}}` stand for the braces themselves.

use super::Arguments;
use serde_json::Value;

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Argument(String),
}

/// Why a word is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace that opens and never closes.
    #[error("`{{` is never closed; write `{{{{` for the character itself")]
    Open,
    /// A brace that closes what was not opened.
    #[error("`}}` closes nothing; write `}}}}` for the character itself")]
    Close,
}

impl Template {
    /// Reads a word.
    ///
    /// # Errors
    /// Braces that do not match.
    pub fn parse(word: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut text) = (Vec::new(), String::new());
        let mut rest = word;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            text.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else if let Some(after) = from.strip_prefix('{') {
                let (name, after) = after.split_once('}').ok_or(TemplateError::Open)?;
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Argument(name.to_owned()));
                rest = after;
            } else {
                return Err(TemplateError::Close);
            }
        }
        text.push_str(rest);
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(Self { pieces })
    }

    /// The arguments that it names.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The word with the values in their places; none where an argument has no value: then the word is left out.
    #[must_use]
    pub fn fill(&self, arguments: &Arguments) -> Option<String> {
        let mut word = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => word.push_str(text),
                Piece::Argument(name) => word.push_str(&text(arguments.get(name)?)),
            }
        }
        Some(word)
    }
}

/// A value as a program reads it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_stand_where_they_are_named() {
        let arguments = json!({"a": "x y; rm -rf /", "n": 3, "f": true}).as_object().unwrap().clone();
        for (word, wanted) in [
            ("plain", Some("plain")),
            ("", Some("")),
            ("{a}", Some("x y; rm -rf /")),
            ("--n={n}:{f}", Some("--n=3:true")),
            ("{{a}} {{{n}}}", Some("{a} {3}")),
            ("--opt={absent}", None),
        ] {
            assert_eq!(Template::parse(word).unwrap().fill(&arguments).as_deref(), wanted, "{word}");
        }
        assert_eq!(Template::parse("{a"), Err(TemplateError::Open));
        assert_eq!(Template::parse("a}"), Err(TemplateError::Close));
        let names: Vec<_> = Template::parse("{a}{b}-{a}").unwrap().arguments().map(str::to_owned).collect();
        assert_eq!(names, ["a", "b", "a"]);
    }

    proptest::proptest! {
        #[test]
        fn escaped_text_is_itself(text in ".{0,40}") {
            let escaped = text.replace('{', "{{").replace('}', "}}");
            let template = Template::parse(&escaped).unwrap();
            proptest::prop_assert_eq!(template.fill(&Arguments::new()), Some(text));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = Template::parse(&text);
        }
    }
}
