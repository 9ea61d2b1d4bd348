//! The blocks one replica holds: which engine hash stands for which content, where its copies are, and what that makes
//! of the index.
//!
//! Two tables. `blocks` is by engine hash and counts copies; `entries` is by prefix hash and counts, for each adapter,
//! the blocks at each tier, since several engine hashes can stand for one prefix hash. An element of each takes 33
//! bytes, and a table is at least 7/16 full, 7/8 before it grows: a block with copies at one place and a prefix of its
//! own takes 75 to 151 bytes, and briefly 38 more while one of the tables grows.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::model::{AdapterId, EngineHash, PrefixHash, Tier};

use super::adapters::Adapters;
use super::changes::Changes;
use super::copies::{Places, Whereabouts};
use super::entries::{Entries, Entry, Partition};
use super::place::Place;

/// Places (medium and group) at which copies of one block are counted; further ones are not.
pub const MAX_PLACES_PER_BLOCK: usize = 64;

/// One entry of the index that a replica holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held<'a> {
    /// Its partition.
    pub adapter: &'a AdapterId,
    /// The prefix.
    pub prefix_hash: PrefixHash,
    /// Tokens from the start of the sequence to the end of the block.
    pub cumulative_tokens: i32,
    /// Hottest tier that holds it.
    pub tier: Tier,
}

/// What an engine hash stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A block of the index.
    Indexed(Indexed),
    /// A block that the fingerprint cannot tell apart; known so that its children are recognised.
    Refused,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Indexed {
    pub(super) adapter: AdapterId,
    pub(super) prefix_hash: PrefixHash,
    pub(super) tokens: i32,
}

/// What became of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StoreOutcome {
    Counted,
    /// Counted, and the hash stood for other content before.
    Replaced,
    /// Not counted: a bound is reached.
    Full,
}

/// Bounds on [`Holdings`].
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldingsLimits {
    pub(super) blocks: usize,
    /// Blocks kept as retained, 0 to retain none; the oldest leave first.
    pub(super) retained: usize,
}

/// Bounded by `limits`.
#[derive(Debug)]
pub(super) struct Holdings {
    limits: HoldingsLimits,
    blocks: HashMap<EngineHash, Block, RandomState>,
    entries: Entries,
    adapters: Adapters,
    places: Places,
    /// Blocks in the order in which they were retained; one is stale where `stamps` has another for it by now.
    retained: VecDeque<(EngineHash, u64)>,
    /// Of the blocks that are retained.
    stamps: HashMap<EngineHash, u64, RandomState>,
    last_stamp: u64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// [`REFUSED`] where the block is not indexed.
    adapter: u32,
    tokens: i32,
    prefix_hash: PrefixHash,
    copies: Whereabouts,
}

/// The number of no adapter: there are fewer blocks.
const REFUSED: u32 = u32::MAX;

impl Block {
    fn entry(&self) -> Option<Entry> {
        let Self { adapter, tokens, prefix_hash, .. } = *self;
        (adapter != REFUSED).then_some(Entry { prefix_hash, tokens, adapter })
    }
}

impl Holdings {
    pub(super) fn new(limits: HoldingsLimits) -> Self {
        Self {
            limits,
            blocks: HashMap::default(),
            entries: Entries::default(),
            adapters: Adapters::default(),
            places: Places::default(),
            retained: VecDeque::new(),
            stamps: HashMap::default(),
            last_stamp: 0,
        }
    }

    pub(super) fn content(&self, hash: EngineHash) -> Option<Content> {
        let entry = self.blocks.get(&hash)?.entry();
        Some(entry.map_or(Content::Refused, |Entry { prefix_hash, tokens, adapter }| {
            Content::Indexed(Indexed { adapter: self.adapters.name(adapter).clone(), prefix_hash, tokens })
        }))
    }

    /// Number of engine hashes.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// One more copy of `hash` at `place`.
    pub(super) fn store(
        &mut self,
        hash: EngineHash,
        content: Content,
        place: Place,
        out: &mut Changes,
    ) -> StoreOutcome {
        let replaced = match self.content(hash) {
            Some(known) => known != content,
            None if self.blocks.len() >= self.limits.blocks => return StoreOutcome::Full,
            None => false,
        };
        if replaced {
            out.end_sequence();
            self.forget(hash, out);
        }
        let mut block = match self.blocks.get(&hash) {
            Some(block) => *block,
            None => self.block(content),
        };
        let before = self.tier(hash, &block);
        if !self.places.add(hash, &mut block.copies, place) {
            if before.is_none() {
                self.drop_block(hash, &block);
            }
            return StoreOutcome::Full;
        }
        self.blocks.insert(hash, block);
        let after = self.tier(hash, &block);
        if let Some(entry) = block.entry() {
            self.entries.shift(entry, (before, after), Some(place.tier), &self.adapters, out);
        }
        if replaced { StoreOutcome::Replaced } else { StoreOutcome::Counted }
    }

    /// One copy less of `hash` at `place`; whether there was one.
    pub(super) fn remove(&mut self, hash: EngineHash, place: Place, out: &mut Changes) -> bool {
        let Some(mut block) = self.blocks.get(&hash).copied() else {
            return false;
        };
        let before = self.tier(hash, &block);
        // An offload pool that does speak of a block is believed.
        let was_retained = place.tier == Place::RETAINED.tier && self.stamps.remove(&hash).is_some();
        let had_copy = self.places.remove(hash, &mut block.copies, place);
        if !had_copy && !was_retained {
            return false;
        }
        let left_gpu = place.tier == Tier::T1 && self.tier(hash, &block) != Some(Tier::T1);
        if left_gpu && self.limits.retained > 0 {
            self.last_stamp += 1;
            self.stamps.insert(hash, self.last_stamp);
            self.retained.push_back((hash, self.last_stamp));
        }
        self.settle(hash, block, before, out);
        while self.retained.len() > self.limits.retained {
            self.release_oldest(out);
        }
        true
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.entries.clear();
        self.adapters.clear();
        self.places.clear();
        self.retained.clear();
        self.stamps.clear();
    }

    pub(super) fn held(&self) -> impl Iterator<Item = Held<'_>> {
        self.entries.iter().filter_map(|(prefix_hash, partition)| self.shown(prefix_hash, partition))
    }

    pub(super) fn held_at(&self, prefix_hash: PrefixHash) -> impl Iterator<Item = Held<'_>> {
        let partitions = self.entries.at(prefix_hash).iter();
        partitions.filter_map(move |partition| self.shown(prefix_hash, partition))
    }

    /// Every prefix held, those with the fewest tokens first.
    pub(super) fn prefixes(&self) -> Vec<PrefixHash> {
        self.entries.prefixes()
    }

    fn shown(&self, prefix_hash: PrefixHash, partition: &Partition) -> Option<Held<'_>> {
        Some(Held {
            adapter: self.adapters.name(partition.adapter),
            prefix_hash,
            cumulative_tokens: partition.tokens,
            tier: partition.tier()?,
        })
    }

    /// A block without copies yet.
    fn block(&mut self, content: Content) -> Block {
        let copies = Whereabouts::default();
        match content {
            Content::Refused => {
                Block { adapter: REFUSED, tokens: 0, prefix_hash: PrefixHash::new(0), copies }
            }
            Content::Indexed(Indexed { adapter, prefix_hash, tokens }) => {
                Block { adapter: self.adapters.hold(&adapter), tokens, prefix_hash, copies }
            }
        }
    }

    /// Hottest place of a block, that of an offload pool that says nothing included.
    fn tier(&self, hash: EngineHash, block: &Block) -> Option<Tier> {
        let is_retained = !self.stamps.is_empty() && self.stamps.contains_key(&hash);
        let retained = is_retained.then_some(Place::RETAINED.tier);
        self.places.tier(hash, block.copies).into_iter().chain(retained).min()
    }

    fn release_oldest(&mut self, out: &mut Changes) {
        let Some((hash, stamp)) = self.retained.pop_front() else {
            return;
        };
        if self.stamps.get(&hash) == Some(&stamp)
            && let Some(block) = self.blocks.get(&hash).copied()
        {
            let before = self.tier(hash, &block);
            self.stamps.remove(&hash);
            self.settle(hash, block, before, out);
        }
    }

    /// Keeps what became of a block that lost a copy and says it; drops the block where that was the last.
    fn settle(&mut self, hash: EngineHash, block: Block, before: Option<Tier>, out: &mut Changes) {
        let after = self.tier(hash, &block);
        if let Some(entry) = block.entry()
            && before != after
        {
            self.entries.shift(entry, (before, after), None, &self.adapters, out);
        }
        match after {
            Some(_) => drop(self.blocks.insert(hash, block)),
            None => self.drop_block(hash, &block),
        }
    }

    fn drop_block(&mut self, hash: EngineHash, block: &Block) {
        self.blocks.remove(&hash);
        if block.adapter != REFUSED {
            self.adapters.release(block.adapter);
        }
    }

    fn forget(&mut self, hash: EngineHash, out: &mut Changes) {
        if let Some(mut block) = self.blocks.get(&hash).copied() {
            let before = self.tier(hash, &block);
            self.places.forget(hash, &mut block.copies);
            self.stamps.remove(&hash);
            self.settle(hash, block, before, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_32_bytes() {
        assert_eq!(size_of::<(EngineHash, Block)>(), 32);
    }
}
