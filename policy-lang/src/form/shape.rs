//! The JSON of a compiled set, field by field in the order written.

use crate::resolved::{List, ListBuilder};
use serde::de::{Error, IgnoredAny, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A compiled set. The first line, up to `crc32`, is read as text before this is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a compiled set")]
pub(super) struct Body<'a> {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(rename = "format_version")]
    _format_version: IgnoredAny,
    #[serde(rename = "crc32")]
    _checksum: IgnoredAny,
    #[serde(rename = "tool_version")]
    _tool_version: IgnoredAny,
    pub table: String,
    pub revision: String,
    pub preset: Option<String>,
    pub base_dir: Option<BaseDir>,
    pub files: Vec<File>,
    #[serde(borrow)]
    pub rules: Vec<Rule<'a>>,
    pub custom: Vec<Custom>,
    pub tokens: Option<Vec<Token>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a base directory")]
pub(super) struct BaseDir {
    pub path: String,
    pub file: Option<FileIx>,
    pub places: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an input file")]
pub(super) struct File {
    pub name: String,
    pub layer: String,
    pub sha256: String,
}

/// `places` holds, packed: that of the rule, then per statement its own and the runs of its elements.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule")]
pub(super) struct Rule<'a> {
    pub name: String,
    #[serde(borrow)]
    pub layer: Cow<'a, str>,
    pub selector: String,
    #[serde(borrow)]
    pub specificity: Cow<'a, str>,
    pub file: Option<FileIx>,
    #[serde(borrow)]
    pub places: Cow<'a, str>,
    #[serde(borrow)]
    pub says: Vec<Statement<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a key with its value")]
pub(super) struct Statement<'a> {
    #[serde(borrow)]
    pub key: Cow<'a, str>,
    #[serde(borrow)]
    pub value: Value<'a>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a custom route")]
pub(super) struct Custom {
    pub id: String,
    pub group: String,
    pub scopes: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a token")]
pub(super) struct Token {
    pub id: String,
    pub scopes: Vec<String>,
    pub token_env: Option<String>,
    pub token_sha256: Option<String>,
    pub file: Option<FileIx>,
    pub places: String,
}

/// Which of `files` a place is in.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(transparent)]
pub(super) struct FileIx(pub u32);

impl<'de> Deserialize<'de> for FileIx {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = FileIx;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the number of one of `files`")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<FileIx, E> {
                let number = u32::try_from(value);
                number.map(FileIx).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
            }
        }
        from.deserialize_u32(Reader)
    }
}

/// A value is the JSON that it looks like: a boolean, a number, a word, or a list of texts. Paths, of which most of a large
/// set consists, are written as in `PATH`, in one text with colons between them, unless a colon is part of one: whoever
/// knows the key takes them apart.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    Number(u64),
    Text(Cow<'a, str>),
    /// As it is written,
    List(&'a List),
    /// and as it is read; apart from the statements, most of which hold none.
    Read(Box<List>),
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => to.serialize_u64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::List(list) => to.collect_seq(list.values()),
            Self::Read(list) => to.collect_seq(list.values()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a boolean, a number, a word or a list of texts")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'de>, E> {
                Ok(Value::Bool(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'de>, E> {
                Ok(Value::Number(value))
            }

            fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Borrowed(value)))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Owned(value.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
                let mut elements = ListBuilder::default();
                while let Some(value) = list.next_element::<Cow<'_, str>>()? {
                    elements.push_value(&value);
                }
                Ok(Value::Read(Box::new(elements.finish())))
            }
        }
        from.deserialize_any(Reader)
    }
}
