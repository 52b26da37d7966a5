//! A strict reader of one JSON object: no name twice, at any depth; nothing after it; depth bounded.

use crate::endpoint::JsonBody;
use crate::error::{ApiError, ErrorCode};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads the body of a JSON door.
///
/// # Errors
/// 400 `invalid_json`, saying what and where.
pub(super) fn read(text: &[u8]) -> Result<JsonBody, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(Value::Object(members)) => Ok(JsonBody::new(members)),
        Ok(_) => Err(invalid("the request body must be a JSON object".to_owned())),
        Err(error) => Err(invalid(error.to_string())),
    }
}

fn invalid(why: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidJson, format!("Invalid JSON body: {why}"))
}

/// Reads any value; the reader of `serde_json` bounds the depth at 128.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Strict)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = object.next_key_seed(Name)? {
            let value = object.next_value_seed(Strict)?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!("name `{name}` occurs twice")));
            }
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_one_plain_object_is_read() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        let refused: [&[u8]; 13] = [
            br#"{"path":"a","path":"b"}"#,
            br#"{"a":{"b":1,"b":2}}"#,
            br#"{"path":"a","p\u0061th":"b"}"#,
            deep.as_bytes(),
            br#"{"a":NaN}"#,
            br#"{"a":1e999}"#,
            b"\xef\xbb\xbf{}",
            b"{} x",
            b"\xff\xfe{\0}\0",
            b"{\"a\":\"\xff\"}",
            br#"{"a":"\ud800"}"#,
            b"[1]",
            b"",
        ];
        for text in refused {
            assert_eq!(
                read(text).unwrap_err().code().as_str(),
                "invalid_json",
                "{:?}",
                String::from_utf8_lossy(text)
            );
        }
        assert_eq!(read(br#" {"a":[1,null,"\ud83d\ude00"]} "#).unwrap().members().len(), 1);
    }
}
