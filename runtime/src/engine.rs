//! The stateful half of the policy: how often and how many at once, counted for each principal and endpoint.

mod rate;
mod slots;

pub use rate::Rate;
pub use slots::{Slot, Slots};

use std::sync::{Arc, OnceLock};

/// What is counted for one principal at one endpoint.
#[derive(Debug, Default)]
pub struct Cell {
    rate: OnceLock<Rate>,
    /// Calls under way; shared with the cells of later policies.
    pub slots: Arc<Slots>,
}

impl Cell {
    /// The rate of this cell, which is made at its first use.
    pub fn rate(&self, per_minute: u64) -> &Rate {
        self.rate.get_or_init(|| Rate::per_minute(per_minute))
    }
}

/// Every cell, by principal and endpoint.
#[derive(Debug)]
pub struct Engine {
    width: usize,
    cells: Box<[OnceLock<Arc<Cell>>]>,
}

impl Engine {
    /// Cells for so many principals and endpoints.
    #[must_use]
    pub fn new(principals: usize, endpoints: usize) -> Self {
        Self { width: endpoints, cells: (0..principals * endpoints).map(|_| OnceLock::new()).collect() }
    }

    /// The cell of a principal at an endpoint.
    #[must_use]
    pub fn cell(&self, principal: usize, endpoint: usize) -> Option<&Arc<Cell>> {
        let cell = self.cells.get(principal.checked_mul(self.width)?.checked_add(endpoint)?)?;
        Some(cell.get_or_init(Arc::default))
    }

    /// Takes over what an earlier engine counted: calls under way always, a rate where it is still the same.
    pub fn adopt(&self, at: (usize, usize), earlier: &Self, from: (usize, usize), same_rate: bool) {
        let found = earlier.cells.get(from.0 * earlier.width + from.1).and_then(OnceLock::get);
        let (Some(found), Some(cell)) = (found, self.cells.get(at.0 * self.width + at.1)) else { return };
        let kept = if same_rate {
            Arc::clone(found)
        } else {
            Arc::new(Cell { rate: OnceLock::new(), slots: Arc::clone(&found.slots) })
        };
        // A fresh engine: no cell of it is set yet.
        let _ = cell.set(kept);
    }
}
