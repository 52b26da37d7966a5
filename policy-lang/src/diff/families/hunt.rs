//! The search for witnesses on a product of automata, and the proof where there are none.

use crate::automata::{Accepted, Product, TooLarge};
use crate::diff::view::Opening;
use crate::endpoint::Key;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Why nothing was proven where automata grew too large.
pub(super) const TOO_LARGE: &str = "the patterns are too many or too large to be compared exactly";
/// Why nothing was proven where only texts beyond ASCII are left.
const BEYOND_ASCII: &str = "no ASCII text differs; that no other does could not be proven";

/// The most texts that are tried in vain for one goal.
const MOST_FAILURES: usize = 64;

/// Makes a call of a text and asks both sides.
type Show<'a> = Box<dyn Fn(Accepted, &[u8]) -> Option<Opening> + 'a>;

/// What is looked for.
pub(super) struct Goal<'a> {
    /// The key that it would show to be changed.
    pub(super) key: Key,
    /// The side that would permit it: 0 the old, 1 the new.
    pub(super) side: usize,
    /// The automata of the key itself, on both sides.
    pub(super) own: Vec<usize>,
    /// Whether, by these alone, a text that is accepted so could be one.
    pub(super) turns: Box<dyn Fn(Accepted) -> bool + 'a>,
    /// Whether a text that is accepted so is one.
    pub(super) wanted: Box<dyn Fn(Accepted) -> bool + 'a>,
    /// Makes a call of it and asks both sides.
    pub(super) show: Show<'a>,
}

/// What was found, by number of its goal: a witness, or that its absence is not proven. A goal that cannot be reached
/// gives nothing.
pub(super) fn hunt(product: &Product, named: &BTreeSet<char>, goals: Vec<Goal<'_>>) -> Vec<(usize, Opening)> {
    // Most keys turn in one direction, which their own automata tell at once.
    let may = |goal: &Goal<'_>| product.never(&goal.own, &goal.turns) != Ok(true);
    let mut left: Vec<(usize, Goal<'_>, usize)> = goals
        .into_iter()
        .enumerate()
        .filter(|(_, goal)| may(goal))
        .map(|(number, goal)| (number, goal, 0))
        .collect();
    let mut found = Vec::new();
    let asked = |left: &[(usize, Goal<'_>, usize)]| {
        [0, 1].map(|side| left.iter().any(|(_, goal, _)| goal.side == side))
    };
    let walked = product.search(named, asked(&left), |accepted, text| {
        left.retain_mut(|(number, goal, failures)| {
            if *failures >= MOST_FAILURES || !(goal.wanted)(accepted) {
                return true;
            }
            match (goal.show)(accepted, &text()) {
                Some(opening) => {
                    found.push((*number, opening));
                    false
                }
                None => {
                    *failures += 1;
                    true
                }
            }
        });
        if left.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(asked(&left)) }
    });
    for (number, goal, _) in left {
        let proven = match walked {
            Ok(()) => product.none(&goal.wanted),
            Err(TooLarge) => Err(TooLarge),
        };
        match proven {
            Ok(true) => {}
            Ok(false) => found.push((number, Opening::unproven(goal.key, BEYOND_ASCII))),
            Err(TooLarge) => found.push((number, Opening::unproven(goal.key, TOO_LARGE))),
        }
    }
    found
}
