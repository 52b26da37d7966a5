//! The first `limit` of many, by order, without keeping the rest.

/// Keeps the smallest `limit` items it is given, in a buffer of at most twice that.
#[derive(Debug)]
pub(crate) struct Smallest<T> {
    limit: usize,
    items: Vec<T>,
    /// Set once something was let go.
    over: bool,
    /// Nothing above this can be among the smallest any more.
    ceiling: Option<T>,
}

impl<T: Ord + Clone> Smallest<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, items: Vec::new(), over: false, ceiling: None }
    }

    /// Whether an item could still be kept; `above` tells whether it comes after the one it is given.
    pub(crate) fn admits(&self, above: impl Fn(&T) -> bool) -> bool {
        !self.ceiling.as_ref().is_some_and(above)
    }

    /// Notes that an item was not even offered, because [`Smallest::admits`] said no.
    pub(crate) fn pass_over(&mut self) {
        self.over = true;
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.ceiling.as_ref().is_some_and(|ceiling| item > *ceiling) {
            self.over = true;
            return;
        }
        self.items.push(item);
        if self.items.len() >= self.limit.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.items.len() <= self.limit {
            return;
        }
        self.over = true;
        self.items.select_nth_unstable(self.limit);
        self.items.truncate(self.limit);
        self.ceiling = self.items.iter().max().cloned();
    }

    /// The smallest of all collectors, sorted, and whether any was let go.
    pub(crate) fn merge(all: Vec<Self>, limit: usize) -> (Vec<T>, bool) {
        let over = all.iter().any(|one| one.over);
        let mut items: Vec<T> = all.into_iter().flat_map(|one| one.items).collect();
        items.sort_unstable();
        let over = over || items.len() > limit;
        items.truncate(limit);
        (items, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_what_sorting_would_keep(
            left in proptest::collection::vec(any::<u16>(), 0..400),
            right in proptest::collection::vec(any::<u16>(), 0..400),
            limit in 0_usize..80,
        ) {
            let mut collectors = vec![Smallest::new(limit), Smallest::new(limit)];
            for (collector, items) in collectors.iter_mut().zip([&left, &right]) {
                for item in items {
                    collector.push(*item);
                }
            }
            let (kept, over) = Smallest::merge(collectors, limit);
            let mut all: Vec<u16> = left.into_iter().chain(right).collect();
            all.sort_unstable();
            prop_assert_eq!(over, all.len() > limit);
            all.truncate(limit);
            prop_assert_eq!(kept, all);
        }
    }
}
