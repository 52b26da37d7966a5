//! The shapes of the protocol: what comes in, and how a value of a page is described.

use super::CdpError;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An answer (`id`) or an event (`method`).
#[derive(Debug, Deserialize)]
pub(super) struct Incoming<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    message: String,
}

impl Incoming<'_> {
    /// What an answer says.
    pub(super) fn outcome(self) -> Result<Box<RawValue>, CdpError> {
        match (self.error, self.result) {
            (Some(refusal), _) => Err(CdpError::Refused(refusal.message)),
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => Err(CdpError::Shape),
        }
    }
}

/// A value of a page, as the protocol describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::browser) struct Remote {
    /// `object`, `function`, `undefined`, `string`, `number`, `boolean`, `symbol`, `bigint`.
    pub(in crate::browser) r#type: String,
    /// `array`, `null`, `node`, `error`, …
    pub(in crate::browser) subtype: Option<String>,
    /// The value, where it is JSON.
    pub(in crate::browser) value: Option<Value>,
    /// `NaN`, `-0`, `Infinity`, `12n`.
    pub(in crate::browser) unserializable_value: Option<String>,
    /// How a person would name it.
    pub(in crate::browser) description: Option<String>,
    /// What it is known by in the page.
    pub(in crate::browser) object_id: Option<String>,
    /// Its first members.
    pub(in crate::browser) preview: Option<Preview>,
}

/// The first members of an object.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::browser) struct Preview {
    /// As of [`Remote`].
    pub(in crate::browser) subtype: Option<String>,
    /// How a person would name it.
    pub(in crate::browser) description: Option<String>,
    /// Whether it has more than these.
    pub(in crate::browser) overflow: bool,
    /// Its members.
    pub(in crate::browser) properties: Vec<Property>,
}

/// One member.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::browser) struct Property {
    /// Its name.
    pub(in crate::browser) name: String,
    /// As of [`Remote`].
    pub(in crate::browser) r#type: String,
    /// Its value as text.
    pub(in crate::browser) value: Option<String>,
}
