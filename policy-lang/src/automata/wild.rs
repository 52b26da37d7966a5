//! Proof of absence: that no text whatever is of some kind, those beyond ASCII included.
//!
//! A text falls into ASCII bytes, whose folded form is known, and runs of anything else. Folding works on each run by
//! itself, but what it makes of one is not followed here: a run stands for any bytes as asked beside any bytes folded,
//! which is more than there is. What cannot happen so cannot happen; what can is merely not proven.
//!
//! A run begins at an ASCII character where a mark that follows composes with it, and is beyond ASCII from there on as asked.
//! It never holds a slash, neither as asked nor folded.

use super::grammar::{Grammar, Part};
use super::machine::TooLarge;
use super::product::{Accepted, Product, State, Tape};
use super::symbols::{alphabet, representatives};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::rc::Rc;

/// The most states that a proof goes through.
const MOST_STATES: usize = 50_000;

/// Positions of the automata of one tape.
type Positions = Box<[u16]>;
type Runs = HashMap<(Tape, Positions), Rc<Vec<Positions>>>;

impl Product {
    /// Whether no text at all is accepted by automata as `sought` says. `false` says only that it is not proven.
    pub(crate) fn none(&self, sought: impl Fn(Accepted) -> bool) -> Result<bool, TooLarge> {
        match self.grammar {
            Grammar::Path => self.no_path(sought),
            Grammar::Name => self.no_name(sought),
        }
    }

    /// Whether, by some automata alone, nothing is accepted as `sought` says: a quick look, of any bytes there are.
    /// `false` says only that it is not proven.
    pub(crate) fn never(
        &self,
        machines: &[usize],
        sought: impl Fn(Accepted) -> bool,
    ) -> Result<bool, TooLarge> {
        let own = || machines.iter().filter_map(|number| Some((*number, self.machines.get(*number)?)));
        let tapes: HashSet<Tape> = own().map(|(_, (tape, _))| *tape).collect();
        // Two forms of one text are not followed here.
        if tapes.len() > 1 {
            return Ok(false);
        }
        let bytes = representatives(own().map(|(_, (_, machine))| &**machine), 1..=u8::MAX, self.grammar);
        let mut walk = Walk::from(own().map(|(_, (_, machine))| machine.start()).collect::<Positions>());
        while let Some(at) = walk.next() {
            let accepting = own().zip(&at).filter(|((_, (_, machine)), at)| machine.accepts(**at));
            if sought(Accepted::from(accepting.map(|((number, _), _)| number))) {
                return Ok(false);
            }
            for byte in &bytes {
                let after = own().zip(&at).map(|((_, (_, machine)), at)| machine.step(*at, *byte));
                walk.meet(after.collect())?;
            }
        }
        Ok(true)
    }

    /// Names are read as asked by every automaton, so that going through every byte goes through every name.
    fn no_name(&self, sought: impl Fn(Accepted) -> bool) -> Result<bool, TooLarge> {
        let bytes =
            representatives(self.machines.iter().map(|(_, machine)| &**machine), 1..=u8::MAX, self.grammar);
        let mut walk = Walk::from(self.start());
        while let Some(state) = walk.next() {
            if self.grammar.ends(state.part) && sought(self.accepted(&state)) {
                return Ok(false);
            }
            for byte in &bytes {
                if let Some(after) = self.advance(&state, &[*byte], &[*byte]) {
                    walk.meet(after)?;
                }
            }
        }
        Ok(true)
    }

    fn no_path(&self, sought: impl Fn(Accepted) -> bool) -> Result<bool, TooLarge> {
        let symbols =
            alphabet(self.machines.iter().map(|(_, machine)| &**machine), &BTreeSet::new(), self.grammar);
        let mut runs = Runs::new();
        let mut walk = Walk::from(self.start());
        while let Some(state) = walk.next() {
            if self.grammar.ends(state.part) && sought(self.accepted(&state)) {
                return Ok(false);
            }
            for symbol in &symbols {
                if let Some(after) = self
                    .advance(&state, &symbol.raw, &symbol.folded)
                    .filter(|after| self.matters(after, [true; 2]))
                {
                    walk.meet(after)?;
                }
            }
            if state.part != Part::Start {
                let raw = self.run(Tape::Raw, &state, &mut runs)?;
                let folded = self.run(Tape::Folded, &state, &mut runs)?;
                for one in raw.iter() {
                    for other in folded.iter() {
                        let after = State { part: Part::Within, at: self.joined(one, other) };
                        if self.matters(&after, [true; 2]) {
                            walk.meet(after)?;
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Where the automata of one tape can stand after a run: folded after one byte or more, as asked after bytes beyond
    /// ASCII, with one ASCII byte before them or none; no slash among them.
    fn run(&self, tape: Tape, state: &State, runs: &mut Runs) -> Result<Rc<Vec<Positions>>, TooLarge> {
        let from: Positions = self.of(tape, &state.at);
        let key = (tape, from.clone());
        if let Some(known) = runs.get(&key) {
            return Ok(Rc::clone(known));
        }
        let bytes = {
            let machines =
                self.machines.iter().filter(|(its, _)| *its == tape).map(|(_, machine)| &**machine);
            let mut bytes = representatives(machines.clone(), 1..=0x7f, self.grammar);
            bytes.retain(|byte| *byte != b'/');
            bytes.extend(representatives(machines, 0x80..=u8::MAX, self.grammar));
            bytes
        };
        let mut walk = Walk::from((Run::Nothing, from));
        let mut ends = HashSet::new();
        while let Some((run, at)) = walk.next() {
            for byte in &bytes {
                let Some(run) = run.step(tape, *byte) else { continue };
                let mut after = at.clone();
                let machines = self.machines.iter().filter(|(its, _)| *its == tape);
                for ((_, machine), at) in machines.zip(after.iter_mut()) {
                    *at = machine.step(*at, *byte);
                }
                if run == Run::Whole {
                    ends.insert(after.clone());
                }
                walk.meet((run, after))?;
            }
        }
        let found = Rc::new(ends.into_iter().collect::<Vec<_>>());
        runs.insert(key, Rc::clone(&found));
        Ok(found)
    }

    fn of(&self, tape: Tape, at: &[u16]) -> Positions {
        self.machines.iter().zip(at).filter(|((its, _), _)| *its == tape).map(|(_, at)| *at).collect()
    }

    fn joined(&self, raw: &[u16], folded: &[u16]) -> Positions {
        let (mut raw, mut folded) = (raw.iter(), folded.iter());
        let next = |tape| match tape {
            Tape::Raw => raw.next(),
            Tape::Folded => folded.next(),
        };
        self.machines.iter().map(|(tape, _)| *tape).filter_map(next).copied().collect()
    }
}

/// How much of a run was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Run {
    Nothing,
    /// The character that the first mark composes with.
    Begin,
    /// It may end here.
    Whole,
}

impl Run {
    const fn step(self, tape: Tape, byte: u8) -> Option<Self> {
        match (tape, self) {
            (Tape::Folded, _) => Some(Self::Whole),
            (Tape::Raw, _) if !byte.is_ascii() => Some(Self::Whole),
            (Tape::Raw, Self::Nothing) => Some(Self::Begin),
            (Tape::Raw, _) => None,
        }
    }
}

/// States that were met and not yet gone on from.
struct Walk<S> {
    known: HashSet<S>,
    queue: VecDeque<S>,
}

impl<S: Clone + Eq + Hash> Walk<S> {
    fn from(start: S) -> Self {
        Self { known: HashSet::from([start.clone()]), queue: VecDeque::from([start]) }
    }

    fn next(&mut self) -> Option<S> {
        self.queue.pop_front()
    }

    fn meet(&mut self, state: S) -> Result<(), TooLarge> {
        if !self.known.contains(&state) {
            if self.known.len() >= MOST_STATES {
                return Err(TooLarge);
            }
            self.known.insert(state.clone());
            self.queue.push_back(state);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::paths::fold;

    /// What the proof stands on: ASCII folds to itself wherever it stands, and nothing else ever becomes a slash.
    #[test]
    fn runs_fold_by_themselves_and_hold_no_slash() {
        let fold = |text: &str| fold::path(text.as_bytes()).to_ascii_lowercase();
        for c in '\u{80}'..='\u{1ffff}' {
            let alone = fold(&c.to_string());
            assert!(!alone.is_empty() && !alone.contains(&b'/'), "{c:?}");
            for after in ['/', '.', 'a', '='] {
                let mut wanted = alone.clone();
                wanted.push(after as u8);
                assert_eq!(fold(&format!("{c}{after}")), wanted, "{c:?} {after}");
            }
            assert_eq!(fold(&format!("/{c}")), [b"/", &*alone].concat(), "{c:?}");
        }
    }
}
