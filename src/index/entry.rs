//! What the index stores: keys, and one entry for each replica that holds a key.

use std::sync::atomic::AtomicU32;

use smallvec::SmallVec;

use super::arena::NONE;
use super::order::{Linked, Links};
use crate::model::Tier;

/// A hash as stored: engines' hashes are nearly always 8 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum KeyHash {
    Word([u8; 8]),
    Bytes(Box<[u8]>),
}

impl KeyHash {
    pub(super) fn new(bytes: &[u8]) -> Self {
        match <[u8; 8]>::try_from(bytes) {
            Ok(word) => Self::Word(word),
            Err(_) => Self::Bytes(Box::from(bytes)),
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Word(word) => word,
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::Word(_) => 0,
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// One hash of one partition, and who holds it.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) hash: KeyHash,
    pub(super) partition: u32,
    /// Sorted by member.
    pub(super) holders: SmallVec<[Holding; 1]>,
    /// Newest time it was reported at by anyone.
    pub(super) reported_at_ns: i64,
    /// Sweep epoch of the last delivered hit; 0 is never.
    pub(super) hit_epoch: AtomicU32,
    pub(super) links: Links,
}

impl Default for Key {
    fn default() -> Self {
        Self {
            hash: KeyHash::Word([0; 8]),
            partition: NONE,
            holders: SmallVec::new(),
            reported_at_ns: 0,
            hit_epoch: AtomicU32::new(0),
            links: Links::default(),
        }
    }
}

impl Linked for Key {
    fn links(&self) -> &Links {
        &self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// One replica's hold on one key. What a lookup reads lies here, beside the other holders of the key; what only writes
/// need lies in the entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub(super) last_seen_ns: i64,
    pub(super) member: u32,
    pub(super) entry: u32,
    pub(super) tokens: i32,
    pub(super) tier: Tier,
}

/// A hold's place in the orders by age and among the member's other holds.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: u32,
    pub(super) member: u32,
    /// Delivered hits, halved at each sweep; counted under LFU only.
    pub(super) hits: u32,
    pub(super) links: Links,
    /// The member's other entries.
    pub(super) previous_of_member: u32,
    pub(super) next_of_member: u32,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            key: NONE,
            member: NONE,
            hits: 0,
            links: Links::default(),
            previous_of_member: NONE,
            next_of_member: NONE,
        }
    }
}

impl Linked for Entry {
    fn links(&self) -> &Links {
        &self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}
