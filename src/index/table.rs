//! The hash table over all keys. It holds positions only; hashes lie in the segments.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Sub-tables: growing one moves few keys.
const SHARDS: usize = 4096;
/// Pieces of the line that spreads keys over the sub-tables.
const PIECES: usize = 64;

/// Places of a sub-table that are not given back.
const SMALL: usize = 16;

/// Bytes of the table that one key takes, on average over the sizes of the sub-tables.
pub(super) const KEY_BYTES: u64 = 8;

/// Positions of keys by the codes of their hashes.
///
/// A table doubles when it is full. Sub-tables of one size would all do so at once, and be half empty from then on;
/// here the largest gets twice the keys of the smallest, so that the share of free places is the same at every size.
#[derive(Debug)]
pub(super) struct Table {
    shards: Vec<HashTable<u32>>,
    /// First sub-table of each piece, in 65,536ths.
    bounds: Vec<u64>,
    coder: Coder,
}

/// What makes hashes of keys into codes.
#[derive(Clone, Debug)]
pub(super) struct Coder(RandomState);

impl Coder {
    pub(super) fn code(&self, partition: u32, hash: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        match <[u8; 8]>::try_from(hash) {
            Ok(word) => {
                hasher.write_u64(u64::from_le_bytes(word));
                hasher.write_u32(partition);
            }
            Err(_) => {
                hasher.write_u32(partition);
                hasher.write(hash);
            }
        }
        hasher.finish()
    }
}

impl Default for Table {
    fn default() -> Self {
        let bound = |piece: usize| {
            ((1.0 + piece as f64 / PIECES as f64).log2() * SHARDS as f64 * 65_536.0).round() as u64
        };
        Self {
            shards: std::iter::repeat_with(HashTable::new).take(SHARDS).collect(),
            bounds: (0..=PIECES).map(bound).collect(),
            coder: Coder(RandomState::default()),
        }
    }
}

impl Table {
    pub(super) fn coder(&self) -> Coder {
        self.coder.clone()
    }

    fn shard(&self, code: u64) -> usize {
        // The table takes its own bits from both ends of the code, so the shard comes from the middle.
        let spread = (code >> 24) as u32;
        let (piece, within) = ((spread >> 26) as usize, u64::from(spread & ((1 << 26) - 1)));
        let (from, until) = (self.bounds[piece], self.bounds[piece + 1]);
        ((from + (((until - from) * within) >> 26)) >> 16) as usize % SHARDS
    }

    pub(super) fn code(&self, partition: u32, hash: &[u8]) -> u64 {
        self.coder.code(partition, hash)
    }

    pub(super) fn find(&self, code: u64, is: impl FnMut(&u32) -> bool) -> Option<u32> {
        self.shards[self.shard(code)].find(code, is).copied()
    }

    /// Adds a key that is not there; `code_of` gives the codes of others when a sub-table grows.
    pub(super) fn insert(&mut self, code: u64, key: u32, code_of: impl Fn(&u32) -> u64) {
        let shard = self.shard(code);
        self.shards[shard].insert_unique(code, key, code_of);
    }

    /// Takes a key out; `code_of` gives the codes of others when a sub-table that is mostly empty shrinks.
    pub(super) fn remove(&mut self, code: u64, key: u32, code_of: impl Fn(&u32) -> u64) {
        let shard = self.shard(code);
        let shard = &mut self.shards[shard];
        if let Ok(found) = shard.find_entry(code, |held| *held == key) {
            found.remove();
        }
        // Halved where it is filled to two fifths, and then filled to four: what is added next makes it grow no time soon.
        if shard.len() * 5 < shard.capacity() * 2 && shard.capacity() > SMALL {
            shard.shrink_to(shard.len() * 5 / 4, code_of);
        }
    }
}
