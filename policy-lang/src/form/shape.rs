//! The JSON of a compiled set, field by field in the order written.

use crate::resolved::{List, ListBuilder};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
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
    /// The lists of paths that the rules count, in their order; they stand last, and may be read later than the rest.
    #[serde(borrow, default)]
    pub paths: Option<Vec<&'a str>>,
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
    pub says: Says<'a>,
}

/// The keys of a rule with their values: an object.
#[derive(Debug)]
pub(super) struct Says<'a>(pub Vec<Statement<'a>>);

#[derive(Debug)]
pub(super) struct Statement<'a> {
    pub key: Cow<'a, str>,
    pub value: Value<'a>,
}

impl Serialize for Says<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|statement| (&statement.key, &statement.value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Says<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Says<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("keys with their values")
            }

            /// A key that is said twice is told of by whoever knows the keys.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Says<'de>, A::Error> {
                let mut says = Vec::with_capacity(8);
                while let Some((Name(key), value)) = map.next_entry()? {
                    says.push(Statement { key, value });
                }
                Ok(Says(says))
            }
        }
        from.deserialize_map(Reader)
    }
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
/// set consists, are written as in `PATH`, in one text with colons between them, which stands in `paths`; unless a colon is
/// part of one, or the text needs an escape and stands in the place of the value. Whoever knows the key takes it apart.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    Number(u64),
    Text(Cow<'a, str>),
    Counted(Counted<'a>),
    /// As it is written,
    List(&'a List),
    /// and as it is read; apart from the statements, most of which hold none.
    Read(Box<List>),
}

/// A list of paths whose text stands in `paths`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the length of a list of paths")]
pub(super) struct Counted<'a> {
    /// How many paths there are,
    pub entries: u32,
    /// and how long their text is.
    pub bytes: u32,
    /// The text, where it is to be written.
    #[serde(skip)]
    pub text: &'a str,
    /// The byte of the set that the text begins with, where it was read.
    #[serde(skip)]
    pub start: u32,
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => to.serialize_u64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::Counted(counted) => counted.serialize(to),
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
                f.write_str("a boolean, a number, a word, a list of texts or the length of a list of paths")
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

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value<'de>, A::Error> {
                Counted::deserialize(MapAccessDeserializer::new(map)).map(Value::Counted)
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
