//! Where else a hash stands: keys of the same hash in the partitions of one (tenant, model).
//!
//! An eviction names a hash and no partition. Of each scope the first few partitions are asked one by one; the keys of
//! all further ones are listed here, so that the cost grows neither with the partitions nor with the index.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use smallvec::SmallVec;

/// Partitions of a scope that are asked one by one.
pub(super) const ASKED_PARTITIONS: usize = 16;

/// Sub-tables, so that growing one moves few.
const SHARDS: usize = 256;

/// A hash as stored: engines' hashes are nearly always 8 bytes.
#[derive(Debug)]
enum KeyHash {
    Word([u8; 8]),
    Bytes(Box<[u8]>),
}

impl KeyHash {
    fn new(bytes: &[u8]) -> Self {
        match <[u8; 8]>::try_from(bytes) {
            Ok(word) => Self::Word(word),
            Err(_) => Self::Bytes(Box::from(bytes)),
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Word(word) => word,
            Self::Bytes(bytes) => bytes,
        }
    }
}

#[derive(Debug)]
struct Listed {
    scope: u32,
    hash: KeyHash,
    keys: SmallVec<[u32; 2]>,
}

/// Keys by scope and hash.
#[derive(Debug)]
pub(super) struct Twins {
    shards: Vec<HashTable<Listed>>,
    hasher: RandomState,
}

impl Default for Twins {
    fn default() -> Self {
        let shards = std::iter::repeat_with(HashTable::new).take(SHARDS).collect();
        Self { shards, hasher: RandomState::default() }
    }
}

impl Twins {
    /// Bytes that one key takes at most, its hash on the heap left out.
    pub(super) const KEY_BYTES: u64 = size_of::<Listed>() as u64;

    /// Keys of `hash` in `scope`.
    pub(super) fn of(&self, scope: u32, hash: &[u8]) -> &[u32] {
        let code = code(&self.hasher, scope, hash);
        let found = self.shards[shard(code)].find(code, |listed| listed.is(scope, hash));
        found.map_or(&[], |listed| &listed.keys)
    }

    pub(super) fn insert(&mut self, scope: u32, hash: &[u8], key: u32) {
        let Self { shards, hasher } = self;
        let code_of = code(hasher, scope, hash);
        shards[shard(code_of)]
            .entry(
                code_of,
                |listed| listed.is(scope, hash),
                |listed| code(hasher, listed.scope, listed.hash.as_bytes()),
            )
            .or_insert_with(|| Listed { scope, hash: KeyHash::new(hash), keys: SmallVec::new() })
            .get_mut()
            .keys
            .push(key);
    }

    /// Takes `key` off; the last of the list takes its place.
    pub(super) fn remove(&mut self, scope: u32, hash: &[u8], key: u32) {
        let code = code(&self.hasher, scope, hash);
        let table = &mut self.shards[shard(code)];
        let Ok(mut found) = table.find_entry(code, |listed| listed.is(scope, hash)) else {
            return;
        };
        let keys = &mut found.get_mut().keys;
        if let Some(at) = keys.iter().rposition(|listed| *listed == key) {
            keys.swap_remove(at);
        }
        if keys.is_empty() {
            found.remove();
        }
    }
}

impl Listed {
    fn is(&self, scope: u32, hash: &[u8]) -> bool {
        self.scope == scope && self.hash.as_bytes() == hash
    }
}

fn code(hasher: &RandomState, scope: u32, hash: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write_u32(scope);
    hasher.write(hash);
    hasher.finish()
}

fn shard(code: u64) -> usize {
    (code >> 32) as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_scope_and_hash() {
        let mut twins = Twins::default();
        let hash = b"12345678";
        for key in 0..3 {
            twins.insert(1, hash, key);
        }
        twins.insert(2, hash, 3);
        assert_eq!(twins.of(1, b"12345678"), [0, 1, 2]);
        twins.remove(1, hash, 0);
        assert_eq!(twins.of(1, b"12345678"), [2, 1]);
        twins.remove(1, hash, 9);
        twins.remove(2, hash, 3);
        assert_eq!(twins.of(2, b"12345678"), [] as [u32; 0]);
        assert_eq!(twins.of(1, b"other"), [] as [u32; 0]);
    }
}
