//! Base values as written: what a `limits` or `params` table may hold.

use super::At;
use super::rows::described;
use crate::error::Faults;
use toml::Spanned;
use toml::de::DeValue;

/// A base value before the kind of its key is known.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    /// `true`
    Flag(bool),
    /// `200`; `None` where it does not fit 64 bits or is negative.
    Number(Option<u64>),
    /// `"4MB"`
    Text(String),
    /// `[2, 9]`
    Numbers(Vec<At<Option<u64>>>),
    /// `["python"]`
    Words(Vec<At<String>>),
}

impl Written {
    /// Reads a value, or says why it can be no base value.
    pub(super) fn read(value: &Spanned<DeValue<'_>>, faults: &mut Faults) -> Option<Self> {
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(Self::Flag(*flag)),
            DeValue::Integer(number) => {
                Some(Self::Number(u64::from_str_radix(number.as_str(), number.radix()).ok()))
            }
            DeValue::String(text) => Some(Self::Text(text.to_string())),
            DeValue::Array(items) => {
                let numbers = items.iter().map(|item| match item.get_ref() {
                    DeValue::Integer(number) => {
                        let value = u64::from_str_radix(number.as_str(), number.radix()).ok();
                        Some(At { value, span: item.span() })
                    }
                    _ => None,
                });
                let words = items.iter().map(|item| match item.get_ref() {
                    DeValue::String(text) => Some(At { value: text.to_string(), span: item.span() }),
                    _ => None,
                });
                let numbers =
                    numbers.collect::<Option<Vec<_>>>().filter(|list| !list.is_empty()).map(Self::Numbers);
                let read = numbers.or_else(|| words.collect::<Option<Vec<_>>>().map(Self::Words));
                if read.is_none() {
                    faults.at(&value.span(), "a list of base values holds numbers or strings, not both");
                }
                read
            }
            other => {
                faults.at(&value.span(), format!("{} can be no base value", described(other)));
                None
            }
        }
    }
}
