//! The JSON object of a request, with readers that say which parameter is wrong.
//!
//! An absent member and `null` are the same: the source document's clients send both.

use crate::error::ApiError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The JSON object of a request. Unknown members are ignored.
#[derive(Debug, Default)]
pub struct JsonBody(Map<String, Value>);

impl JsonBody {
    pub(crate) fn new(members: Map<String, Value>) -> Self {
        Self(members)
    }

    /// The member as it is; `null` is absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Takes the member out; `null` is absent.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Every member.
    #[must_use]
    pub fn into_members(self) -> Map<String, Value> {
        self.0
    }

    /// Every member, to look at.
    #[must_use]
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Text that must be there and not be empty.
    ///
    /// # Errors
    /// 400 `missing_parameter` or `invalid_parameter`.
    pub fn required_text(&mut self, name: &str) -> Result<String, ApiError> {
        match self.text(name)? {
            None => Err(ApiError::missing(name)),
            Some(text) if text.is_empty() => Err(wrong(name, "a non-empty string")),
            Some(text) => Ok(text),
        }
    }

    /// Text, where there is any.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a string")),
        }
    }

    /// A whole number, where there is any. `1.0` is one, `1.5` and `"1"` are not.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let whole = value.as_i64().or_else(|| {
            let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            Some(float as i64)
        });
        whole.map(Some).ok_or_else(|| wrong(name, "an integer"))
    }

    /// A number of seconds or of anything else, where there is any; always finite.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn number(&self, name: &str) -> Result<Option<f64>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_f64().filter(|number| number.is_finite()).map(Some).ok_or_else(|| wrong(name, "a number"))
    }

    /// `true` or `false`, or `default` where it is absent.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        self.get(name).map_or(Ok(default), |value| value.as_bool().ok_or_else(|| wrong(name, "a boolean")))
    }

    /// A list of strings, where there is any.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, ApiError> {
        self.typed(name, "a list of strings")
    }

    /// An object of strings, such as `env`, where there is any.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn text_map(
        &mut self,
        name: &str,
    ) -> Result<Option<std::collections::BTreeMap<String, String>>, ApiError> {
        self.typed(name, "an object of strings")
    }

    /// A member of any shape; `shape` says it in words for the message.
    ///
    /// # Errors
    /// 400 `invalid_parameter`.
    pub fn typed<T: DeserializeOwned>(&mut self, name: &str, shape: &str) -> Result<Option<T>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|_| wrong(name, shape))
    }
}

fn wrong(name: &str, shape: &str) -> ApiError {
    ApiError::invalid(name, format!("{name} must be {shape}"))
}

#[cfg(test)]
mod tests {
    use super::JsonBody;
    use serde_json::json;

    fn body(value: serde_json::Value) -> JsonBody {
        JsonBody::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn null_is_absent() {
        assert_eq!(body(json!({"cwd": null})).text("cwd").unwrap(), None);
    }

    #[test]
    fn wrong_types_name_the_parameter() {
        for (value, read) in [
            (json!({"p": 1}), "p must be a string"),
            (json!({"p": ""}), "p must be a non-empty string"),
            (json!({}), "Missing required parameter: p"),
        ] {
            let error = body(value).required_text("p").unwrap_err();
            let shown: serde_json::Value = serde_json::from_slice(&error.body(None)).unwrap();
            assert_eq!(shown["error"], read);
            assert_eq!(shown["parameter"], "p");
        }
    }

    #[test]
    fn integers_are_whole() {
        assert_eq!(body(json!({"n": 3.0})).integer("n").unwrap(), Some(3));
        for bad in [json!({"n": 3.5}), json!({"n": "3"}), json!({"n": true}), json!({"n": 1e300})] {
            assert!(body(bad).integer("n").is_err());
        }
    }
}
