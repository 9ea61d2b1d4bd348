//! What waits for one observer: bounded in number and bytes, and never waited for by those who fill it.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Items on their way to one observer. What does not fit is counted instead.
pub(super) struct Queue<T> {
    held: Mutex<Held<T>>,
    changed: Notify,
    bounds: Bounds,
}

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Items.
    pub(super) items: usize,
    /// Bytes of all of them; one alone may have more.
    pub(super) bytes: usize,
    /// Whether the first that does not fit is the end: an observer for whom the order of all counts has no use for what
    /// comes after a gap.
    pub(super) ends_at_gap: bool,
}

struct Held<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    missed: u64,
}

/// The next step of an observer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next<T> {
    /// An item.
    Item(T),
    /// Nothing more comes: so many were missed.
    Gap(u64),
}

impl<T> Queue<T> {
    pub(super) fn new(bounds: Bounds) -> Self {
        let held = Held { items: VecDeque::new(), bytes: 0, missed: 0 };
        Self { held: Mutex::new(held), changed: Notify::new(), bounds }
    }

    /// Adds an item of `bytes`; whether there was room.
    pub(super) fn push(&self, item: T, bytes: usize) -> bool {
        let mut held = self.held.lock();
        let has_room = held.items.is_empty()
            || held.items.len() < self.bounds.items && held.bytes + bytes <= self.bounds.bytes;
        let is_over = self.bounds.ends_at_gap && held.missed > 0;
        if !has_room || is_over {
            held.missed += 1;
            return false;
        }
        held.items.push_back((item, bytes));
        held.bytes += bytes;
        drop(held);
        self.changed.notify_one();
        true
    }

    /// Counts items that were not even made.
    pub(super) fn miss(&self, items: u64) {
        self.held.lock().missed += items;
    }

    /// Whether the next item would not fit.
    pub(super) fn is_full(&self) -> bool {
        self.held.lock().items.len() >= self.bounds.items
    }

    /// Items missed so far.
    pub(super) fn missed(&self) -> u64 {
        self.held.lock().missed
    }

    /// Items that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.held.lock().items.len() as u64
    }

    /// The next item, or the gap where there is one and it is the end.
    pub(super) async fn next(&self) -> Next<T> {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.changed.notified().await;
        }
    }

    /// The same, where there is one.
    pub(super) fn try_next(&self) -> Option<Next<T>> {
        let mut held = self.held.lock();
        if let Some((item, bytes)) = held.items.pop_front() {
            held.bytes -= bytes;
            return Some(Next::Item(item));
        }
        (self.bounds.ends_at_gap && held.missed > 0).then_some(Next::Gap(held.missed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(ends_at_gap: bool) -> Queue<u32> {
        Queue::new(Bounds { items: 3, bytes: 10, ends_at_gap })
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let items = queue(false);
        assert_eq!([1, 2, 3, 4].map(|item| items.push(item, 1)), [true, true, true, false]);
        let bytes = queue(false);
        assert_eq!([6, 4, 1].map(|size| bytes.push(0, size)), [true, true, false]);
        assert!(queue(false).push(0, 11), "one alone may be larger");
        items.miss(5);
        assert_eq!((items.missed(), items.is_full()), (6, true));
        assert_eq!(items.try_next(), Some(Next::Item(1)));
        assert!(items.push(5, 1), "there is room again");
        let rest: Vec<_> = std::iter::from_fn(|| items.try_next()).collect();
        assert_eq!(rest, [2, 3, 5].map(Next::Item));
    }

    #[test]
    fn after_a_gap_that_is_the_end_nothing_comes() {
        let queue = queue(true);
        for item in 0..4 {
            queue.push(item, 1);
        }
        assert_eq!(queue.try_next(), Some(Next::Item(0)));
        assert!(!queue.push(9, 1), "there is room, and a gap before it");
        assert_eq!(queue.try_next(), Some(Next::Item(1)));
        assert_eq!(queue.try_next(), Some(Next::Item(2)));
        assert_eq!(queue.try_next(), Some(Next::Gap(2)));
    }
}
