//! Several automata walked over the same text at once, shortest texts first.

use super::grammar::{Grammar, Part};
use super::machine::{Machine, TooLarge};
use super::symbols::{Symbol, alphabet};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most states that a walk goes through.
const MOST_STATES: usize = 200_000;

/// Which form of a text an automaton reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tape {
    /// As asked.
    Raw,
    /// Folded, as denials read it.
    Folded,
}

/// Which automata accept a text: bit n for the n-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted(u32);

impl Accepted {
    pub(crate) const fn by(self, machine: usize) -> bool {
        self.0 & (1 << machine) != 0
    }

    /// Accepted by these.
    pub(super) fn from(machines: impl Iterator<Item = usize>) -> Self {
        Self(machines.fold(0, |bits, machine| bits | 1 << machine))
    }
}

/// What must hold of a text for one side to permit a longer one still.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alive {
    /// Automata that may still accept.
    pub(crate) accepting: Vec<usize>,
    /// Automata that may still refuse to accept.
    pub(crate) refusing: Vec<usize>,
}

/// Automata side by side.
#[derive(Debug)]
pub(crate) struct Product {
    pub(super) grammar: Grammar,
    pub(super) machines: Vec<(Tape, Arc<Machine>)>,
    /// A text is of interest only while a side that is asked about is alive.
    sides: [Alive; 2],
}

/// Where all automata stand after the same text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) part: Part,
    pub(super) at: Box<[u16]>,
}

/// Which sides are asked about.
pub(crate) type Sides = [bool; 2];

impl Product {
    pub(crate) fn new(grammar: Grammar) -> Self {
        Self { grammar, machines: Vec::new(), sides: [Alive::default(), Alive::default()] }
    }

    /// Takes an automaton in and gives its number.
    pub(crate) fn add(&mut self, tape: Tape, machine: Arc<Machine>) -> usize {
        self.machines.push((tape, machine));
        self.machines.len() - 1
    }

    /// Says when a side can permit nothing more.
    pub(crate) fn bound(&mut self, sides: [Alive; 2]) {
        self.sides = sides;
    }

    /// Walks every text made of ASCII and of the characters `named`, shortest first, and shows one for each set of
    /// automata positions that a text can end in, until none of the sides is asked about any more.
    pub(crate) fn search(
        &self,
        named: &BTreeSet<char>,
        mut asked: Sides,
        mut visit: impl FnMut(Accepted, &dyn Fn() -> Vec<u8>) -> ControlFlow<(), Sides>,
    ) -> Result<(), TooLarge> {
        let symbols = alphabet(self.machines.iter().map(|(_, machine)| &**machine), named, self.grammar);
        let start = self.start();
        let mut known: HashMap<State, usize> = HashMap::from([(start.clone(), 0)]);
        // By number: the state, the state before it and the symbol between.
        let mut trail: Vec<(State, usize, usize)> = vec![(start, 0, 0)];
        let mut next = 0;
        while let Some((state, ..)) = trail.get(next) {
            let state = state.clone();
            if self.grammar.ends(state.part) {
                match visit(self.accepted(&state), &|| text(&trail, &symbols, next)) {
                    ControlFlow::Continue(still) => asked = still,
                    ControlFlow::Break(()) => return Ok(()),
                }
            }
            for (number, symbol) in symbols.iter().enumerate() {
                let Some(after) = self.advance(&state, &symbol.raw, &symbol.folded) else { continue };
                if !self.matters(&after, asked) || known.contains_key(&after) {
                    continue;
                }
                if trail.len() >= MOST_STATES {
                    return Err(TooLarge);
                }
                known.insert(after.clone(), trail.len());
                trail.push((after, next, number));
            }
            next += 1;
        }
        Ok(())
    }

    pub(super) fn start(&self) -> State {
        State { part: Part::Start, at: self.machines.iter().map(|(_, machine)| machine.start()).collect() }
    }

    pub(super) fn accepted(&self, state: &State) -> Accepted {
        let all = self.machines.iter().zip(&state.at).enumerate();
        Accepted::from(all.filter(|(_, ((_, machine), at))| machine.accepts(**at)).map(|(number, _)| number))
    }

    /// One symbol further; none where no text goes on so.
    pub(super) fn advance(&self, state: &State, raw: &[u8], folded: &[u8]) -> Option<State> {
        let part = raw.iter().try_fold(state.part, |part, byte| self.grammar.step(part, *byte))?;
        let step = |((tape, machine), at): (&(Tape, Arc<Machine>), &u16)| {
            let bytes = if *tape == Tape::Raw { raw } else { folded };
            bytes.iter().fold(*at, |at, byte| machine.step(at, *byte))
        };
        Some(State { part, at: self.machines.iter().zip(&state.at).map(step).collect() })
    }

    /// Whether a side that is asked about can still permit a text that goes on from here.
    pub(super) fn matters(&self, state: &State, asked: Sides) -> bool {
        let at = |number: usize| self.machines.get(number).zip(state.at.get(number));
        let dead = |number: &usize| at(*number).is_some_and(|((_, machine), at)| machine.is_dead(*at));
        let full = |number: &usize| at(*number).is_some_and(|((_, machine), at)| machine.is_full(*at));
        let alive = |side: &Alive| !side.accepting.iter().any(dead) && !side.refusing.iter().any(full);
        self.sides.iter().zip(asked).any(|(side, asked)| asked && alive(side))
    }
}

/// The text that leads to the state of that number.
fn text(trail: &[(State, usize, usize)], symbols: &[Symbol], mut number: usize) -> Vec<u8> {
    let mut steps = Vec::new();
    while number != 0 {
        let Some((_, before, symbol)) = trail.get(number) else { break };
        steps.push(*symbol);
        number = *before;
    }
    let symbols = steps.into_iter().rev().filter_map(|symbol| symbols.get(symbol));
    symbols.flat_map(|symbol| symbol.raw.iter().copied()).collect()
}
