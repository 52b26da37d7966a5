//! Proof of absence: that no text whatever is of some kind, those beyond ASCII included.
//!
//! A text falls into ASCII bytes, whose folded form is known, and runs of anything else. Folding works on each run by
//! itself, but what it makes of one is not followed here: a run stands for any bytes as asked beside any bytes folded,
//! which is more than there is. What cannot happen so cannot happen; what can is merely not proven.
//!
//! A run begins at an ASCII character where a mark that follows composes with it, and never holds a slash, neither as
//! asked nor folded.

use super::grammar::{Grammar, Part};
use super::machine::TooLarge;
use super::product::{Accepted, Product, State, Tape};
use super::symbols::{alphabet, representatives};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// The most states that a proof goes through.
const MOST_STATES: usize = 50_000;

/// Positions of the automata of one tape.
type Positions = Box<[u16]>;
type Runs = HashMap<(Tape, Positions), Rc<Vec<Positions>>>;

impl Product {
    /// Whether no text at all is accepted by automata as `sought` says. `false` says only that it is not proven.
    pub(in crate::diff) fn none(&self, sought: impl Fn(Accepted) -> bool) -> Result<bool, TooLarge> {
        match self.grammar {
            Grammar::Path => self.no_path(sought),
            Grammar::Name => self.no_name(sought),
        }
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

    /// Where the automata of one tape can stand after a run: one byte or more, no slash, and as asked one byte at least
    /// beyond ASCII.
    fn run(&self, tape: Tape, state: &State, runs: &mut Runs) -> Result<Rc<Vec<Positions>>, TooLarge> {
        let from: Positions = self.of(tape, &state.at);
        let raw = tape == Tape::Raw;
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
        let mut seen: HashSet<(bool, Positions)> = HashSet::from([(false, from.clone())]);
        let mut queue = VecDeque::from([(false, from)]);
        let mut ends = HashSet::new();
        while let Some((done, at)) = queue.pop_front() {
            for byte in &bytes {
                let mut after = at.clone();
                let machines = self.machines.iter().filter(|(its, _)| *its == tape);
                for ((_, machine), at) in machines.zip(after.iter_mut()) {
                    *at = machine.step(*at, *byte);
                }
                let done = done || !raw || !byte.is_ascii();
                if seen.insert((done, after.clone())) {
                    if seen.len() > MOST_STATES {
                        return Err(TooLarge);
                    }
                    if done {
                        ends.insert(after.clone());
                    }
                    queue.push_back((done, after));
                }
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

/// States that were met and not yet gone on from.
struct Walk {
    known: HashSet<State>,
    queue: VecDeque<State>,
}

impl Walk {
    fn from(start: State) -> Self {
        Self { known: HashSet::from([start.clone()]), queue: VecDeque::from([start]) }
    }

    fn next(&mut self) -> Option<State> {
        self.queue.pop_front()
    }

    fn meet(&mut self, state: State) -> Result<(), TooLarge> {
        if self.known.insert(state.clone()) {
            if self.known.len() > MOST_STATES {
                return Err(TooLarge);
            }
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
