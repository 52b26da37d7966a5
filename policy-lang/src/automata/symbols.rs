//! The steps of a walk: one for each set of bytes that no automaton tells apart, and the characters that patterns name.

use super::grammar::Grammar;
use super::machine::Machine;
use crate::paths::fold;
use std::collections::{BTreeSet, HashSet};

/// One step: what the text as asked gains, and what its folded form gains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(super) raw: Vec<u8>,
    pub(super) folded: Vec<u8>,
}

/// The most characters beyond ASCII that a walk tries; which ones there are matters to what is found first, not to what
/// is proven.
const MOST_CHARACTERS: usize = 64;

/// Every ASCII byte that the automata tell apart, those that read well first, then the characters of `named`.
pub(crate) fn alphabet<'a>(
    machines: impl Iterator<Item = &'a Machine> + Clone,
    named: &BTreeSet<char>,
    grammar: Grammar,
) -> Vec<Symbol> {
    let bytes = representatives(machines, 1..=0x7f, grammar).into_iter();
    let ascii = bytes.map(|byte| Symbol { raw: vec![byte], folded: vec![byte] });
    let beyond = named.iter().filter(|c| !c.is_ascii()).take(MOST_CHARACTERS).map(|c| {
        let text = c.to_string();
        Symbol { folded: fold::text(&text).into_bytes(), raw: text.into_bytes() }
    });
    ascii.chain(beyond).collect()
}

/// One byte of each set that `machines` do not tell apart, among those of `range`.
pub(super) fn representatives<'a>(
    machines: impl Iterator<Item = &'a Machine> + Clone,
    range: std::ops::RangeInclusive<u8>,
    grammar: Grammar,
) -> Vec<u8> {
    let mut bytes: Vec<u8> = range.collect();
    bytes.sort_by_key(|byte| (pleasantness(*byte, grammar), *byte));
    let mut seen = HashSet::new();
    bytes.retain(|byte| {
        let classes: Vec<u8> = machines.clone().map(|machine| machine.class(*byte)).collect();
        // The grammar tells these apart by itself.
        let own = matches!(byte, b'/' | b'.' | b'=').then_some(*byte);
        seen.insert((classes, own))
    });
    bytes
}

/// Smaller reads better.
const fn pleasantness(byte: u8, grammar: Grammar) -> u8 {
    match byte {
        b'A'..=b'Z' if matches!(grammar, Grammar::Name) => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        b'_' | b'-' | b'.' | b'/' => 4,
        b'!'..=b'~' => 5,
        b' ' => 6,
        _ => 7,
    }
}
