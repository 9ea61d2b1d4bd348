//! Storage with stable 32-bit positions that never moves what it holds.
//!
//! A plain `Vec` copies everything when it grows, which would stall every lookup for a time in proportion to the index.

const SEGMENT_BITS: u32 = 12;
const SEGMENT: usize = 1 << SEGMENT_BITS;

/// A slab in segments of 4,096; a freed position is used again, last freed first.
#[derive(Debug)]
pub(super) struct Arena<T> {
    segments: Vec<Vec<T>>,
    /// Free positions, in segments too.
    free: Vec<Vec<u32>>,
    len: usize,
}

/// The position that stands for none.
pub(super) const NONE: u32 = u32::MAX;

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { segments: Vec::new(), free: Vec::new(), len: 0 }
    }
}

impl<T> Arena<T> {
    /// Items held.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Positions ever used: all items stand below.
    pub(super) fn slots(&self) -> u32 {
        match self.segments.split_last() {
            Some((last, full)) => ((full.len() << SEGMENT_BITS) + last.len()) as u32,
            None => 0,
        }
    }

    /// Stores `item` and returns its position. The index caps what it holds below 2^32 - 1.
    pub(super) fn insert(&mut self, item: T) -> u32 {
        self.len += 1;
        if let Some(at) = self.take_free() {
            self[at] = item;
            return at;
        }
        if self.segments.last().is_none_or(|last| last.len() == SEGMENT) {
            self.segments.push(segment(self.segments.is_empty()));
        }
        let segment = self.segments.len() - 1;
        let slots = &mut self.segments[segment];
        slots.push(item);
        ((segment << SEGMENT_BITS) + slots.len() - 1) as u32
    }
}

/// An empty segment. The first one of a list grows as it fills: every tenant has arenas of its own, and most are small.
fn segment<T>(is_first: bool) -> Vec<T> {
    if is_first { Vec::new() } else { Vec::with_capacity(SEGMENT) }
}

impl<T> Arena<T> {
    fn take_free(&mut self) -> Option<u32> {
        let last = self.free.last_mut()?;
        let at = last.pop();
        if last.is_empty() {
            self.free.pop();
        }
        at
    }
}

impl<T: Default> Arena<T> {
    /// Takes the item at `at` out and frees the position.
    pub(super) fn remove(&mut self, at: u32) -> T {
        self.len -= 1;
        let item = std::mem::take(&mut self[at]);
        match self.free.last_mut() {
            Some(last) if last.len() < SEGMENT => last.push(at),
            _ => {
                let mut segment = segment(self.free.is_empty());
                segment.push(at);
                self.free.push(segment);
            }
        }
        item
    }
}

impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, at: u32) -> &T {
        &self.segments[at as usize >> SEGMENT_BITS][at as usize & (SEGMENT - 1)]
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.segments[at as usize >> SEGMENT_BITS][at as usize & (SEGMENT - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_stable_and_used_again() {
        let mut arena = Arena::default();
        let all: Vec<u32> = (0..10_000_u32).map(|item| arena.insert(item)).collect();
        assert!(all.iter().enumerate().all(|(item, at)| arena[*at] == item as u32));
        assert_eq!(arena.remove(all[5_000]), 5_000);
        assert_eq!((arena.len(), arena.slots()), (9_999, 10_000));
        assert_eq!(arena.insert(7), all[5_000]);
        assert_eq!(arena[all[5_001]], 5_001);
        assert_eq!(arena.len(), 10_000);
    }
}
