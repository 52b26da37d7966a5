//! Two automata as one that accepts what either does.

use super::table::Table;
use super::{Machine, TooLarge};
use std::collections::HashMap;

/// The pairs of states that a text can lead to; once either accepts all that follows there is one state for it.
pub(super) fn union(one: &Machine, other: &Machine) -> Result<Table, TooLarge> {
    let mut numbers: HashMap<(u8, u8), u8> = HashMap::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut classes = Vec::with_capacity(256);
    for byte in 0..=u8::MAX {
        let fresh = u8::try_from(bytes.len()).map_err(|_| TooLarge)?;
        let number = *numbers.entry((one.class(byte), other.class(byte))).or_insert(fresh);
        if number == fresh {
            bytes.push(byte);
        }
        classes.push(number);
    }
    let pair = |a: u16, b: u16| (!one.is_full(a) && !other.is_full(b)).then_some((a, b));
    let look = |state: Option<(u16, u16)>| {
        let accepts = state.is_none_or(|(a, b)| one.accepts(a) || other.accepts(b));
        let after = |byte: &u8| state.and_then(|(a, b)| pair(one.step(a, *byte), other.step(b, *byte)));
        Ok((accepts, bytes.iter().map(after).collect()))
    };
    Table::explored(classes, bytes.len(), pair(one.start(), other.start()), look)
}
