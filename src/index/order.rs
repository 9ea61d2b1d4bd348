//! Groups by age: the oldest first, and of one time the latest arrival first.
//!
//! The blocks of one report share its time, and the last block of a chain is worth nothing without the ones before it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Bytes of one place in an order: its key, and its share of a tree's nodes, which are two thirds full on average.
pub(super) const PLACE_BYTES: u64 = (size_of::<(i64, Reverse<u64>, u32)>() * 3 / 2) as u64;

/// Positions of groups, by the time and the arrival of what goes first of each.
#[derive(Debug, Default)]
pub(super) struct Order {
    places: BTreeSet<(i64, Reverse<u64>, u32)>,
}

impl Order {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn insert(&mut self, (at_ns, arrival): (i64, u64), group: u32) {
        self.places.insert((at_ns, Reverse(arrival), group));
    }

    pub(super) fn remove(&mut self, (at_ns, arrival): (i64, u64), group: u32) {
        self.places.remove(&(at_ns, Reverse(arrival), group));
    }

    /// The time of the first to go, and its group.
    pub(super) fn oldest(&self) -> Option<(i64, u32)> {
        let (at_ns, _, group) = self.places.first()?;
        Some((*at_ns, *group))
    }
}
