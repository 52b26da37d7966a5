//! One list of expressions as one automaton over bytes, with as few states as there can be.
//!
//! Each expression is determinised by itself (`table`) and made least (`minimal`) before they are joined two by two
//! (`union`): a list of globs that grows large when it is determinised as a whole stays small so.

mod minimal;
mod table;
mod union;

use std::collections::HashMap;
use std::sync::Arc;
use table::Table;

/// The most states before equal ones are made one.
const MOST_STATES: usize = 20_000;

/// A comparison grew past what it may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The union of some expressions, each of which speaks of a whole text.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The class of each byte.
    classes: Box<[u8]>,
    /// How many classes there are.
    width: usize,
    /// By state and class.
    next: Vec<u16>,
    accepting: Vec<bool>,
    start: u16,
    /// From which no text is accepted, and from which every text is.
    dead: Option<u16>,
    full: Option<u16>,
}

impl Machine {
    /// One expression, which speaks of a whole text and ends in `\z`.
    fn one(expression: &str, covers: bool) -> Result<Self, TooLarge> {
        minimal::machine(&Table::of(expression, covers)?).ok_or(TooLarge)
    }

    /// The automaton that accepts nothing.
    pub(crate) fn nothing() -> Self {
        Self {
            classes: vec![0; 256].into(),
            width: 1,
            next: vec![0],
            accepting: vec![false],
            start: 0,
            dead: Some(0),
            full: None,
        }
    }

    pub(super) const fn start(&self) -> u16 {
        self.start
    }

    pub(super) fn step(&self, state: u16, byte: u8) -> u16 {
        let class = self.classes.get(usize::from(byte)).copied().unwrap_or_default();
        self.next.get(usize::from(state) * self.width + usize::from(class)).copied().unwrap_or(state)
    }

    /// Whether a text that ends in `state` is one of the language.
    pub(super) fn accepts(&self, state: u16) -> bool {
        self.accepting.get(usize::from(state)).copied().unwrap_or_default()
    }

    /// Which bytes it never tells apart, as a number for each.
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.classes.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Whether no longer text is accepted.
    pub(super) fn is_dead(&self, state: u16) -> bool {
        self.dead == Some(state)
    }

    /// Whether every longer text is accepted.
    pub(super) fn is_full(&self, state: u16) -> bool {
        self.full == Some(state)
    }
}

/// Automata that were made before: policies share most of their entries.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    one: HashMap<(String, bool), Arc<Machine>>,
    lists: HashMap<(Vec<String>, bool), Arc<Machine>>,
}

impl Machines {
    /// The union of expressions as they stand for the entries of one list; each ends in `\z`. `covers`: a path that is
    /// accepted covers all below it.
    pub(crate) fn list(
        &mut self,
        mut expressions: Vec<String>,
        covers: bool,
    ) -> Result<Arc<Machine>, TooLarge> {
        expressions.sort_unstable();
        expressions.dedup();
        let key = (expressions, covers);
        if let Some(known) = self.lists.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut machines = Vec::with_capacity(key.0.len());
        for expression in &key.0 {
            machines.push(self.single(expression, covers)?);
        }
        while machines.len() > 1 {
            machines = machines.chunks(2).map(joined).collect::<Result<_, _>>()?;
        }
        let machine = machines.pop().unwrap_or_else(|| Arc::new(Machine::nothing()));
        self.lists.insert(key, Arc::clone(&machine));
        Ok(machine)
    }

    fn single(&mut self, expression: &str, covers: bool) -> Result<Arc<Machine>, TooLarge> {
        let key = (expression.to_owned(), covers);
        if let Some(known) = self.one.get(&key) {
            return Ok(Arc::clone(known));
        }
        let machine = Arc::new(Machine::one(expression, covers)?);
        self.one.insert(key, Arc::clone(&machine));
        Ok(machine)
    }
}

fn joined(pair: &[Arc<Machine>]) -> Result<Arc<Machine>, TooLarge> {
    match pair {
        [one, other] => minimal::machine(&union::union(one, other)?).map(Arc::new).ok_or(TooLarge),
        [one] => Ok(Arc::clone(one)),
        _ => Err(TooLarge),
    }
}
