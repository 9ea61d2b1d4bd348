//! What is due when, on the virtual clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things that are due, in the order of their time.
///
/// At one time, what has already happened comes before what asks about it: the kinds in their order, and within a kind
/// what was planned first. That makes a run the same on every machine.
#[derive(Debug)]
pub(super) struct Agenda<T> {
    heap: BinaryHeap<Reverse<(Due, Slot<T>)>>,
    planned: u64,
}

/// Time, kind, and how many were planned before.
type Due = (i64, u8, u64);

/// What is due, left out of the order: no two are due at the same place.
#[derive(Debug)]
struct Slot<T>(T);

impl<T> PartialEq for Slot<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Slot<T> {}

impl<T> PartialOrd for Slot<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Slot<T> {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl<T> Agenda<T> {
    pub(super) fn new() -> Self {
        Self { heap: BinaryHeap::new(), planned: 0 }
    }

    /// Plans `what` for `at_ns`.
    pub(super) fn plan(&mut self, at_ns: i64, kind: u8, what: T) {
        self.heap.push(Reverse(((at_ns, kind, self.planned), Slot(what))));
        self.planned += 1;
    }

    /// What is due next, if that is no later than `until_ns`.
    pub(super) fn next(&mut self, until_ns: i64) -> Option<(i64, T)> {
        let Reverse(((at_ns, ..), _)) = self.heap.peek()?;
        if *at_ns > until_ns {
            return None;
        }
        let Reverse(((at_ns, ..), Slot(what))) = self.heap.pop()?;
        Some((at_ns, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_kind_then_the_order_of_planning() {
        let mut agenda = Agenda::new();
        for (at, kind, what) in [(5, 1, "d"), (5, 0, "b"), (3, 9, "a"), (5, 0, "c"), (6, 0, "e")] {
            agenda.plan(at, kind, what);
        }
        let mut order = Vec::new();
        while let Some((_, what)) = agenda.next(5) {
            order.push(what);
        }
        assert_eq!(order, ["a", "b", "c", "d"]);
        assert_eq!(agenda.next(6), Some((6, "e")));
    }
}
