//! Two automata as one that accepts what either does.

use super::table::Table;
use super::{MOST_STATES, Machine, TooLarge};
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
    let start = pair(one.start(), other.start());
    let mut known = HashMap::from([(start, 0)]);
    let mut states = vec![start];
    let mut table = Table { classes, width: bytes.len(), next: Vec::new(), accepting: Vec::new() };
    let mut at = 0;
    while let Some(state) = states.get(at).copied() {
        table.accepting.push(state.is_none_or(|(a, b)| one.accepts(a) || other.accepts(b)));
        for byte in &bytes {
            let after = state.and_then(|(a, b)| pair(one.step(a, *byte), other.step(b, *byte)));
            let number = *known.entry(after).or_insert_with(|| {
                states.push(after);
                states.len() - 1
            });
            table.next.push(number);
        }
        if states.len() > MOST_STATES {
            return Err(TooLarge);
        }
        at += 1;
    }
    Ok(table)
}
