//! Items by age: constant-time moves, and the oldest first.
//!
//! Items of one time share a bucket, a doubly linked list through the items themselves, newest arrival first. Of items
//! of one time the latest arrival is therefore the first to go: the blocks of one report share its time, and the last
//! block of a chain is worth nothing without the ones before it.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::arena::{Arena, NONE};

/// An item's place in an [`Order`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    bucket: u32,
    previous: u32,
    next: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { bucket: NONE, previous: NONE, next: NONE }
    }
}

/// What has a place in an [`Order`].
pub(super) trait Linked {
    fn links(&self) -> &Links;
    fn links_mut(&mut self) -> &mut Links;
}

#[derive(Debug)]
struct Bucket {
    at_ns: i64,
    head: u32,
}

impl Default for Bucket {
    fn default() -> Self {
        Self { at_ns: 0, head: NONE }
    }
}

/// Bytes of one time in an order: its bucket, and its share of a tree's node, which is two thirds full on average.
const BUCKET_BYTES: u64 = (size_of::<Bucket>() + (size_of::<i64>() + size_of::<u32>()) * 3 / 2) as u64;

/// Positions of an arena's items, by time.
#[derive(Debug, Default)]
pub(super) struct Order {
    by_time: BTreeMap<i64, u32>,
    buckets: Arena<Bucket>,
}

impl Order {
    pub(super) fn is_empty(&self) -> bool {
        self.by_time.is_empty()
    }

    /// Adds `item` at `at_ns`, before all others of that time. Returns the bytes that this takes.
    pub(super) fn insert<T: Linked>(&mut self, items: &mut Arena<T>, item: u32, at_ns: i64) -> u64 {
        let (bucket, bytes) = match self.by_time.get(&at_ns) {
            Some(bucket) => (*bucket, 0),
            None => {
                let bucket = self.buckets.insert(Bucket { at_ns, head: NONE });
                self.by_time.insert(at_ns, bucket);
                (bucket, BUCKET_BYTES)
            }
        };
        let next = std::mem::replace(&mut self.buckets[bucket].head, item);
        if next != NONE {
            items[next].links_mut().previous = item;
        }
        *items[item].links_mut() = Links { bucket, previous: NONE, next };
        bytes
    }

    /// Removes `item`. Returns the bytes that this frees.
    pub(super) fn remove<T: Linked>(&mut self, items: &mut Arena<T>, item: u32) -> u64 {
        let Links { bucket, previous, next } = std::mem::take(items[item].links_mut());
        if next != NONE {
            items[next].links_mut().previous = previous;
        }
        if previous != NONE {
            items[previous].links_mut().next = next;
            return 0;
        }
        self.buckets[bucket].head = next;
        if next != NONE {
            return 0;
        }
        let Bucket { at_ns, .. } = self.buckets.remove(bucket);
        self.by_time.remove(&at_ns);
        BUCKET_BYTES
    }

    /// Appends the items of the first time after `after` to `found`, in the order in which they came; which time it is.
    pub(super) fn after<T: Linked>(
        &self,
        items: &Arena<T>,
        after: Option<i64>,
        found: &mut Vec<u32>,
    ) -> Option<i64> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let (at_ns, bucket) = self.by_time.range((from, Bound::Unbounded)).next()?;
        let start = found.len();
        let mut item = self.buckets[*bucket].head;
        while item != NONE {
            found.push(item);
            item = items[item].links().next;
        }
        found[start..].reverse();
        Some(*at_ns)
    }

    /// The first to go, and its time.
    pub(super) fn oldest(&self) -> Option<(i64, u32)> {
        let (at_ns, bucket) = self.by_time.first_key_value()?;
        Some((*at_ns, self.buckets[*bucket].head))
    }
}
