//! The JSON of a compiled set, field by field in the order written.

use crate::resolved::{Element, ResolvedValue};
use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A compiled set. The first line, up to `digest`, is read as text before this is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(rename = "format_version")]
    _format_version: IgnoredAny,
    #[serde(rename = "digest")]
    _digest: IgnoredAny,
    #[serde(rename = "tool_version")]
    _tool_version: IgnoredAny,
    pub table: String,
    pub revision: String,
    pub preset: Option<String>,
    pub base_dir: Option<BaseDir>,
    pub files: Vec<File>,
    pub rules: Vec<Rule>,
    pub custom: Vec<Custom>,
    pub tokens: Option<Vec<Token>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BaseDir {
    pub path: String,
    pub file: Option<u32>,
    pub places: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: String,
    pub layer: String,
    pub sha256: String,
}

/// `places` holds, packed: that of the rule, then per statement its own and those of its elements.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub name: String,
    pub layer: String,
    pub selector: String,
    pub specificity: String,
    pub file: Option<u32>,
    pub places: String,
    pub says: Vec<Statement>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    pub key: String,
    pub value: Value,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Custom {
    pub id: String,
    pub group: String,
    pub scopes: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Token {
    pub id: String,
    pub scopes: Vec<String>,
    pub token_env: Option<String>,
    pub token_sha256: Option<String>,
    pub file: Option<u32>,
    pub places: String,
}

/// A value is the JSON that it looks like: a boolean, a number, a word, or a list of texts. The places of elements are
/// put in afterwards.
#[derive(Debug)]
pub(super) struct Value(pub ResolvedValue);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            ResolvedValue::Bool(value) => to.serialize_bool(*value),
            ResolvedValue::Number(value) => to.serialize_u64(*value),
            ResolvedValue::Word(value) => to.serialize_str(value),
            ResolvedValue::List(elements) => {
                let mut list = to.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    list.serialize_element(&element.value)?;
                }
                list.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ResolvedValue;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a boolean, a number, a word or a list of texts")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<ResolvedValue, E> {
                Ok(ResolvedValue::Bool(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<ResolvedValue, E> {
                Ok(ResolvedValue::Number(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<ResolvedValue, E> {
                Ok(ResolvedValue::Word(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ResolvedValue, A::Error> {
                let mut elements = Vec::new();
                while let Some(value) = list.next_element()? {
                    elements.push(Element { value, at: None });
                }
                Ok(ResolvedValue::List(elements))
            }
        }
        from.deserialize_any(Reader).map(Value)
    }
}
