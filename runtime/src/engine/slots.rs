//! How many calls are under way. A slot comes back on every way out: answer, error, panic, disconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls under way of one principal at one endpoint.
#[derive(Debug, Default)]
pub struct Slots(AtomicU64);

/// One call under way; gives its place back when dropped.
#[derive(Debug)]
pub struct Slot(Option<Arc<Slots>>);

impl Slot {
    /// A slot of an endpoint without a limit.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(slots) = &self.0 {
            slots.0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Slots {
    /// Takes a place where fewer than `most` are taken.
    #[must_use]
    pub fn take(self: &Arc<Self>, most: u64) -> Option<Slot> {
        let one_more = |taken: u64| (taken < most).then_some(taken + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Slot(Some(Arc::clone(self))))
    }

    /// Places that are taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use std::sync::Arc;

    #[test]
    fn a_slot_comes_back_also_after_a_panic() {
        let slots = Arc::new(Slots::default());
        let held: Vec<_> = (0..8).map_while(|_| slots.take(8)).collect();
        assert_eq!(held.len(), 8);
        assert!(slots.take(8).is_none());
        drop(held);
        let inner = Arc::clone(&slots);
        let died = std::panic::catch_unwind(move || {
            let _slot = inner.take(8);
            panic!("the handler failed");
        });
        assert!(died.is_err());
        assert_eq!(slots.taken(), 0);
    }
}
