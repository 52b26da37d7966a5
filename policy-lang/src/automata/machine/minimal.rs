//! The least automaton of a language: states are split until each block goes on alike, then bytes are merged.

use super::{Machine, Table};
use std::collections::HashMap;

/// The machine of a table; none where it has more states than can be numbered.
pub(super) fn machine(table: &Table) -> Option<Machine> {
    let blocks = blocks(table)?;
    let count = usize::from(*blocks.iter().max()?) + 1;
    // One state of each block speaks for it.
    let mut speakers = vec![0; count];
    for (state, block) in blocks.iter().enumerate().rev() {
        *speakers.get_mut(usize::from(*block))? = state;
    }
    let next = |state: usize, class: usize| {
        let after = table.next.get(state * table.width + class)?;
        blocks.get(*after).copied()
    };
    let mut columns: HashMap<Vec<u16>, u8> = HashMap::new();
    let mut merged: Vec<Vec<u16>> = Vec::new();
    let mut renumbered = Vec::new();
    for class in 0..table.width {
        let column: Vec<u16> = speakers.iter().map(|state| next(*state, class)).collect::<Option<_>>()?;
        let fresh = u8::try_from(merged.len()).ok()?;
        let number = *columns.entry(column.clone()).or_insert(fresh);
        if number == fresh {
            merged.push(column);
        }
        renumbered.push(number);
    }
    let width = merged.len();
    let rows =
        (0..count).flat_map(|state| merged.iter().filter_map(move |column| column.get(state).copied()));
    let next: Vec<u16> = rows.collect();
    let accepting: Vec<bool> =
        speakers.iter().map(|state| table.accepting.get(*state).copied().unwrap_or_default()).collect();
    let stays = |accepts: bool| {
        let mut states = (0..).zip(&accepting).zip(next.chunks(width.max(1)));
        states.find(|((state, its), row)| **its == accepts && row.iter().all(|after| after == state))
    };
    let (dead, full) = (stays(false).map(|((state, _), _)| state), stays(true).map(|((state, _), _)| state));
    Some(Machine {
        classes: table
            .classes
            .iter()
            .filter_map(|class| renumbered.get(usize::from(*class)).copied())
            .collect(),
        width,
        start: *blocks.first()?,
        dead,
        full,
        accepting,
        next,
    })
}

/// The block of each state, by Moore's refinement.
fn blocks(table: &Table) -> Option<Vec<u16>> {
    let mut blocks: Vec<u16> = table.accepting.iter().map(|accepts| u16::from(*accepts)).collect();
    let mut count = 0;
    loop {
        let mut known: HashMap<Vec<u16>, u16> = HashMap::new();
        let mut split = Vec::with_capacity(blocks.len());
        for (block, row) in blocks.iter().zip(table.next.chunks(table.width.max(1))) {
            let mut signature = Vec::with_capacity(table.width + 1);
            signature.push(*block);
            signature.extend(row.iter().filter_map(|after| blocks.get(*after)));
            let fresh = u16::try_from(known.len()).ok()?;
            split.push(*known.entry(signature).or_insert(fresh));
        }
        if known.len() == count {
            return Some(split);
        }
        count = known.len();
        blocks = split;
    }
}
