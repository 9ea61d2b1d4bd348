//! Storage with stable 32-bit positions that never moves what it holds.
//!
//! A plain `Vec` copies everything when it grows, which would stall every lookup for a time in proportion to the index,
//! and never gives anything back.

const CHUNK_BITS: u32 = 12;
const CHUNK: usize = 1 << CHUNK_BITS;

/// A slab in chunks of 4,096; a freed position is used again, and a chunk that nothing stands in is given back.
#[derive(Debug)]
pub(super) struct Arena<T> {
    chunks: Vec<Chunk<T>>,
    /// Chunks that may have free positions.
    open: Vec<u32>,
    /// Chunks that were given back.
    vacant: Vec<u32>,
    /// The chunk whose end was not reached yet.
    filling: Option<u32>,
    len: usize,
}

#[derive(Debug)]
struct Chunk<T> {
    items: Vec<T>,
    free: Vec<u16>,
}

/// The position that stands for none.
pub(super) const NONE: u32 = u32::MAX;

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), open: Vec::new(), vacant: Vec::new(), filling: None, len: 0 }
    }
}

impl<T> Arena<T> {
    /// Items held.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All items stand below this position; not all positions below it can be asked for.
    pub(super) fn slots(&self) -> u32 {
        (self.chunks.len() << CHUNK_BITS) as u32
    }

    /// The item at `at`, where that is a position in use or one that was freed.
    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.chunks.get(at as usize >> CHUNK_BITS)?.items.get(at as usize & (CHUNK - 1))
    }

    /// Stores `item` and returns its position. The index caps what it holds below 2^32 - 1.
    pub(super) fn insert(&mut self, item: T) -> u32 {
        self.len += 1;
        while let Some(at) = self.open.last().copied() {
            let chunk = &mut self.chunks[at as usize];
            if let Some(slot) = chunk.free.pop() {
                chunk.items[slot as usize] = item;
                return at << CHUNK_BITS | u32::from(slot);
            }
            self.open.pop();
        }
        let at = self.filling.unwrap_or_else(|| self.begin_chunk());
        let items = &mut self.chunks[at as usize].items;
        items.push(item);
        let slot = items.len() - 1;
        self.filling = (items.len() < CHUNK).then_some(at);
        at << CHUNK_BITS | slot as u32
    }

    fn begin_chunk(&mut self) -> u32 {
        let fresh = Chunk { items: Vec::with_capacity(CHUNK), free: Vec::new() };
        match self.vacant.pop() {
            Some(at) => {
                self.chunks[at as usize] = fresh;
                at
            }
            None => {
                self.chunks.push(fresh);
                (self.chunks.len() - 1) as u32
            }
        }
    }
}

impl<T: Default> Arena<T> {
    /// Takes the item at `at` out and frees the position, which can still be asked for and has nothing to tell.
    pub(super) fn remove(&mut self, at: u32) -> T {
        self.len -= 1;
        let item = std::mem::take(&mut self[at]);
        let number = at >> CHUNK_BITS;
        let chunk = &mut self.chunks[number as usize];
        if chunk.free.is_empty() {
            self.open.push(number);
        }
        chunk.free.push((at as usize & (CHUNK - 1)) as u16);
        item
    }

    /// The same; the chunk goes where that was its last item, and its positions with it.
    pub(super) fn release(&mut self, at: u32) -> T {
        let item = self.remove(at);
        let number = at >> CHUNK_BITS;
        let chunk = &mut self.chunks[number as usize];
        if chunk.free.len() == CHUNK {
            *chunk = Chunk { items: Vec::new(), free: Vec::new() };
            self.vacant.push(number);
        }
        item
    }
}

impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, at: u32) -> &T {
        &self.chunks[at as usize >> CHUNK_BITS].items[at as usize & (CHUNK - 1)]
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.chunks[at as usize >> CHUNK_BITS].items[at as usize & (CHUNK - 1)]
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
        assert_eq!(arena.len(), 9_999);
        assert_eq!(arena.insert(7), all[5_000]);
        assert_eq!(arena[all[5_001]], 5_001);
        assert_eq!(arena.len(), 10_000);
    }

    #[test]
    fn a_chunk_that_nothing_stands_in_is_given_back_and_used_again() {
        let mut arena = Arena::default();
        let all: Vec<u32> = (0..3 * CHUNK as u32).map(|item| arena.insert(item)).collect();
        assert_eq!(arena.slots(), 3 * CHUNK as u32);
        for at in &all[CHUNK..2 * CHUNK] {
            arena.release(*at);
        }
        assert_eq!((arena.get(all[CHUNK]), arena.get(all[0])), (None, Some(&0)));
        let again: Vec<u32> = (0..CHUNK as u32).map(|item| arena.insert(7 + item)).collect();
        assert_eq!(again, all[CHUNK..2 * CHUNK]);
        assert_eq!((arena.slots(), arena.len(), arena[all[CHUNK + 1]]), (3 * CHUNK as u32, 3 * CHUNK, 8));
    }
}
