//! One expression, determinised.

use super::{MOST_STATES, TooLarge};
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use std::collections::HashMap;
use std::hash::Hash;

/// The most memory on the way.
const MOST_BYTES: usize = 64 << 20;

/// An automaton as it is determinised.
pub(super) struct Table {
    /// The class of each byte.
    pub(super) classes: Vec<u8>,
    pub(super) width: usize,
    /// By state and class; the first state is the start.
    pub(super) next: Vec<usize>,
    pub(super) accepting: Vec<bool>,
}

impl Table {
    pub(super) fn of(expression: &str, covers: bool) -> Result<Self, TooLarge> {
        let (dfa, mut cache, start) = lazy(expression)?;
        let classes: Vec<u8> = (0..=u8::MAX).map(|byte| dfa.byte_classes().get(byte)).collect();
        let mut bytes: Vec<u8> = Vec::new();
        for (byte, class) in (0..=u8::MAX).zip(&classes) {
            if usize::from(*class) == bytes.len() {
                bytes.push(byte);
            }
        }
        let slash = classes.get(usize::from(b'/')).copied();
        let of_slash: Vec<bool> = classes.iter().map(|class| covers && slash == Some(*class)).collect();
        let below = |byte: u8| of_slash.get(usize::from(byte)).copied().unwrap_or_default();
        // No state stands for all below what was accepted.
        let look = |state: Option<LazyStateID>| {
            let Some(state) = state else { return Ok((true, vec![None; bytes.len()])) };
            let accepts = dfa.next_eoi_state(&mut cache, state).map_err(|_| TooLarge)?.is_match();
            let mut after = |byte: &u8| match accepts && below(*byte) {
                true => Ok(None),
                false => dfa.next_state(&mut cache, state, *byte).map(Some).map_err(|_| TooLarge),
            };
            Ok((accepts, bytes.iter().map(&mut after).collect::<Result<_, _>>()?))
        };
        Self::explored(classes, bytes.len(), Some(start), look)
    }

    /// The states that can be reached from `start`. `look` says of one whether it accepts, and what follows it by class.
    pub(super) fn explored<S: Copy + Eq + Hash>(
        classes: Vec<u8>,
        width: usize,
        start: S,
        mut look: impl FnMut(S) -> Result<(bool, Vec<S>), TooLarge>,
    ) -> Result<Self, TooLarge> {
        let mut known = HashMap::from([(start, 0)]);
        let mut states = vec![start];
        let mut table = Self { classes, width, next: Vec::new(), accepting: Vec::new() };
        let mut at = 0;
        while let Some(state) = states.get(at).copied() {
            let (accepts, row) = look(state)?;
            table.accepting.push(accepts);
            for after in row {
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
}

fn lazy(expression: &str) -> Result<(DFA, Cache, LazyStateID), TooLarge> {
    let syntax = syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true);
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .cache_capacity(MOST_BYTES)
        .skip_cache_capacity_check(true)
        // A state once named stays: where the space is used up, this fails.
        .minimum_cache_clear_count(Some(0));
    let thompson = regex_automata::nfa::thompson::Config::new().utf8(false).nfa_size_limit(Some(MOST_BYTES));
    let dfa = DFA::builder()
        .syntax(syntax)
        .thompson(thompson)
        .configure(config)
        .build(expression)
        .map_err(|_| TooLarge)?;
    let mut cache = dfa.create_cache();
    let anchored = Input::new(&[]).anchored(Anchored::Yes);
    let start = dfa.start_state_forward(&mut cache, &anchored).map_err(|_| TooLarge)?;
    Ok((dfa, cache, start))
}
