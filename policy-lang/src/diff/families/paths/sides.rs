//! Both sides' lists in one product; a list that both have stands in it once.

use super::entries::Entries;
use crate::automata::{Accepted, Alive, Grammar, Machine, Machines, Product, Tape, TooLarge};
use crate::decide::Op;
use crate::endpoint::Key;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which automata are one side's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// What no rule can open.
    never: usize,
    allow: usize,
    deny: Option<usize>,
    read_only: Option<usize>,
    kept: Option<usize>,
    /// Outer: whether there is such a list.
    allow_extensions: Option<Option<usize>>,
    deny_extensions: Option<usize>,
}

impl Side {
    /// Whether this side permits what is done to a path that is accepted so.
    pub(super) fn permits(self, accepted: Accepted, op: Op) -> bool {
        let keys = [
            Key::PathsAllow,
            Key::PathsDeny,
            Key::PathsReadOnly,
            Key::ParamsAllowExtensions,
            Key::ParamsDenyExtensions,
        ];
        !accepted.by(self.never) && !keys.into_iter().any(|key| self.refuses(key, accepted, op))
    }

    /// The automata of a key.
    pub(super) fn machines(self, key: Key) -> Vec<usize> {
        match key {
            Key::PathsAllow => [Some(self.allow), self.kept].into_iter().flatten().collect(),
            Key::PathsDeny => self.deny.into_iter().collect(),
            Key::PathsReadOnly => self.read_only.into_iter().collect(),
            Key::ParamsAllowExtensions => self.allow_extensions.flatten().into_iter().collect(),
            Key::ParamsDenyExtensions => self.deny_extensions.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// What must hold for this side to permit a longer path.
    fn alive(self) -> Alive {
        Alive { accepting: vec![self.allow], refusing: self.deny.into_iter().chain([self.never]).collect() }
    }

    /// Whether one key of this side refuses it.
    pub(super) fn refuses(self, key: Key, accepted: Accepted, op: Op) -> bool {
        let by = |machine: Option<usize>| machine.is_some_and(|machine| accepted.by(machine));
        match key {
            // What is kept follows from the base directory, as does what is allowed where nobody says.
            Key::PathsAllow => !accepted.by(self.allow) || (op == Op::Delete && by(self.kept)),
            Key::PathsDeny => by(self.deny),
            Key::PathsReadOnly => op.changes() && by(self.read_only),
            Key::ParamsAllowExtensions => {
                op == Op::Write && self.allow_extensions.is_some_and(|list| !by(list))
            }
            Key::ParamsDenyExtensions => op == Op::Write && by(self.deny_extensions),
            _ => false,
        }
    }
}

/// The product and what of it belongs to whom.
pub(super) struct Both {
    pub(super) product: Product,
    /// Old, new.
    pub(super) sides: [Side; 2],
    pub(super) named: BTreeSet<char>,
}

impl Both {
    pub(super) fn new(entries: [Entries; 2], machines: &mut Machines) -> Result<Self, TooLarge> {
        let named = entries.iter().flat_map(|entries| entries.named.iter().copied()).collect();
        let mut builder = Builder { product: Product::new(Grammar::Path), machines, known: Vec::new() };
        let never = builder.always(Tape::Raw, vec![r"/(?:proc|sys|dev)(?:/.*)?\z".to_owned()], true)?;
        let [old, new] = entries.map(|entries| builder.side(never, entries));
        let sides = [old?, new?];
        let mut product = builder.product;
        product.bound(sides.map(Side::alive));
        Ok(Self { product, sides, named })
    }
}

struct Builder<'a> {
    product: Product,
    machines: &'a mut Machines,
    /// What stands in the product.
    known: Vec<(Tape, Arc<Machine>, usize)>,
}

impl Builder<'_> {
    fn side(&mut self, never: usize, entries: Entries) -> Result<Side, TooLarge> {
        Ok(Side {
            never,
            allow: self.always(Tape::Raw, entries.allow.into_keys().collect(), false)?,
            deny: self.add(Tape::Folded, entries.deny.into_keys().collect(), true)?,
            read_only: self.add(Tape::Folded, entries.read_only.into_keys().collect(), true)?,
            kept: self.add(Tape::Raw, entries.kept, false)?,
            allow_extensions: entries
                .allow_extensions
                .map(|list| self.add(Tape::Folded, list, false))
                .transpose()?,
            deny_extensions: self.add(Tape::Folded, entries.deny_extensions, false)?,
        })
    }

    /// The automaton of a list; none of an empty one.
    fn add(&mut self, tape: Tape, expressions: Vec<String>, covers: bool) -> Result<Option<usize>, TooLarge> {
        if expressions.is_empty() { Ok(None) } else { self.always(tape, expressions, covers).map(Some) }
    }

    /// The automaton of a list, that of nothing for an empty one. A list that both sides have stands in the product once.
    fn always(&mut self, tape: Tape, expressions: Vec<String>, covers: bool) -> Result<usize, TooLarge> {
        let machine = self.machines.list(expressions, covers)?;
        let same =
            |(its, known, _): &&(Tape, Arc<Machine>, usize)| *its == tape && Arc::ptr_eq(known, &machine);
        if let Some((.., number)) = self.known.iter().find(same) {
            return Ok(*number);
        }
        let number = self.product.add(tape, Arc::clone(&machine));
        self.known.push((tape, machine, number));
        Ok(number)
    }
}
