//! The blocks one replica holds: which engine hash stands for which content, where its copies are, and what that makes
//! of the index.
//!
//! Two tables. `blocks` is by engine hash and counts copies; `entries` is by prefix hash and counts, for each adapter,
//! the blocks at each tier, since several engine hashes can stand for one prefix hash.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::model::{AdapterId, EngineHash, PrefixHash, Tier};

use super::changes::Changes;
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

/// Bounded by `limits`: `entries` has at most one partition for each block.
#[derive(Debug)]
pub(super) struct Holdings {
    limits: HoldingsLimits,
    blocks: HashMap<EngineHash, Block, RandomState>,
    entries: HashMap<PrefixHash, SmallVec<[Partition; 1]>, RandomState>,
    /// Blocks in the order in which they were retained; one is stale where its block has another stamp by now.
    retained: VecDeque<(EngineHash, u64)>,
    last_stamp: u64,
}

#[derive(Debug)]
struct Block {
    content: Content,
    copies: SmallVec<[Copies; 2]>,
    /// Of its place in `retained`; 0 where it is not retained.
    stamp: u64,
}

/// Copies at one place; the count saturates.
#[derive(Debug)]
struct Copies {
    place: Place,
    count: u32,
}

impl Block {
    fn tier(&self) -> Option<Tier> {
        let retained = (self.stamp > 0).then_some(Place::RETAINED.tier);
        let copies = self.copies.iter().map(|copies| copies.place.tier);
        copies.chain(retained).min()
    }
}

/// One adapter's share of an entry.
#[derive(Debug)]
struct Partition {
    adapter: AdapterId,
    tokens: i32,
    /// Blocks whose hottest place is at T1, T2, T3.
    blocks: [u32; TIERS.len()],
}

const TIERS: [Tier; 3] = [Tier::T1, Tier::T2, Tier::T3];

impl Partition {
    fn tier(&self) -> Option<Tier> {
        let at = self.blocks.iter().position(|blocks| *blocks > 0)?;
        Some(TIERS[at])
    }

    fn count(&mut self, tier: Tier) -> &mut u32 {
        match tier {
            Tier::T1 => &mut self.blocks[0],
            Tier::T2 => &mut self.blocks[1],
            Tier::T3 | Tier::Unknown => &mut self.blocks[2],
        }
    }
}

impl Holdings {
    pub(super) fn new(limits: HoldingsLimits) -> Self {
        Self {
            limits,
            blocks: HashMap::default(),
            entries: HashMap::default(),
            retained: VecDeque::new(),
            last_stamp: 0,
        }
    }

    pub(super) fn content(&self, hash: EngineHash) -> Option<&Content> {
        self.blocks.get(&hash).map(|block| &block.content)
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
        let replaced = match self.blocks.get(&hash) {
            Some(block) => block.content != content,
            None if self.blocks.len() >= self.limits.blocks => return StoreOutcome::Full,
            None => false,
        };
        if replaced {
            out.end_sequence();
            self.forget(hash, out);
        }
        let block =
            self.blocks.entry(hash).or_insert_with(|| Block { content, copies: SmallVec::new(), stamp: 0 });
        let before = block.tier();
        match block.copies.iter().position(|copies| copies.place == place) {
            Some(at) => block.copies[at].count = block.copies[at].count.saturating_add(1),
            None if block.copies.len() == MAX_PLACES_PER_BLOCK => return StoreOutcome::Full,
            None => block.copies.push(Copies { place, count: 1 }),
        }
        let after = block.tier();
        if let Content::Indexed(indexed) = &block.content {
            shift(&mut self.entries, indexed, before, after, Some(place.tier), out);
        }
        if replaced { StoreOutcome::Replaced } else { StoreOutcome::Counted }
    }

    /// One copy less of `hash` at `place`; whether there was one.
    pub(super) fn remove(&mut self, hash: EngineHash, place: Place, out: &mut Changes) -> bool {
        let Some(block) = self.blocks.get_mut(&hash) else {
            return false;
        };
        let before = block.tier();
        let at = block.copies.iter().position(|copies| copies.place == place);
        // An offload pool that does speak of a block is believed.
        let was_retained = place.tier == Place::RETAINED.tier && block.stamp > 0;
        if at.is_none() && !was_retained {
            return false;
        }
        if was_retained {
            block.stamp = 0;
        }
        if let Some(at) = at {
            block.copies[at].count -= 1;
            if block.copies[at].count == 0 {
                block.copies.remove(at);
            }
        }
        let left_gpu = place.tier == Tier::T1 && block.tier() != Some(Tier::T1);
        if left_gpu && self.limits.retained > 0 {
            self.last_stamp += 1;
            block.stamp = self.last_stamp;
            self.retained.push_back((hash, self.last_stamp));
        }
        self.settle(hash, before, out);
        while self.retained.len() > self.limits.retained {
            self.release_oldest(out);
        }
        true
    }

    fn release_oldest(&mut self, out: &mut Changes) {
        let Some((hash, stamp)) = self.retained.pop_front() else {
            return;
        };
        if let Some(block) = self.blocks.get_mut(&hash)
            && block.stamp == stamp
        {
            let before = block.tier();
            block.stamp = 0;
            self.settle(hash, before, out);
        }
    }

    /// Says what became of a block that lost a copy, and drops it where that was the last.
    fn settle(&mut self, hash: EngineHash, before: Option<Tier>, out: &mut Changes) {
        let Some(block) = self.blocks.get(&hash) else {
            return;
        };
        let after = block.tier();
        if let Content::Indexed(indexed) = &block.content
            && before != after
        {
            shift(&mut self.entries, indexed, before, after, None, out);
        }
        if after.is_none() {
            self.blocks.remove(&hash);
        }
    }

    fn forget(&mut self, hash: EngineHash, out: &mut Changes) {
        if let Some(block) = self.blocks.get_mut(&hash) {
            let before = block.tier();
            block.copies.clear();
            block.stamp = 0;
            self.settle(hash, before, out);
        }
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.entries.clear();
        self.retained.clear();
    }

    pub(super) fn held(&self) -> impl Iterator<Item = Held<'_>> {
        self.entries.iter().flat_map(|(prefix_hash, partitions)| {
            partitions.iter().filter_map(|partition| {
                Some(Held {
                    adapter: &partition.adapter,
                    prefix_hash: *prefix_hash,
                    cumulative_tokens: partition.tokens,
                    tier: partition.tier()?,
                })
            })
        })
    }
}

type Entries = HashMap<PrefixHash, SmallVec<[Partition; 1]>, RandomState>;

/// Moves one block from tier to tier (`None`: not held) and says what that changes.
///
/// `stored_at` is the tier of a new copy: at the hottest tier it is said again, since the block was just used; at a
/// colder one there is nothing to say.
fn shift(
    entries: &mut Entries,
    block: &Indexed,
    from: Option<Tier>,
    to: Option<Tier>,
    stored_at: Option<Tier>,
    out: &mut Changes,
) {
    let partitions = entries.entry(block.prefix_hash).or_default();
    let at = partitions.iter().position(|partition| partition.adapter == block.adapter);
    let at = at.unwrap_or_else(|| {
        partitions.push(Partition {
            adapter: block.adapter.clone(),
            tokens: block.tokens,
            blocks: [0; TIERS.len()],
        });
        partitions.len() - 1
    });
    let partition = &mut partitions[at];
    let before = partition.tier();
    if let Some(from) = from {
        *partition.count(from) -= 1;
    }
    if let Some(to) = to {
        *partition.count(to) += 1;
    }
    let after = partition.tier();
    if let Some(tier) = after {
        if before != after || stored_at == after {
            out.stored(&block.adapter, tier, (block.prefix_hash, partition.tokens));
        }
        return;
    }
    partitions.remove(at);
    out.removed(block.adapter.clone(), block.prefix_hash);
    if block.adapter.as_str().is_empty() {
        // Without an adapter a removal reaches every partition, so those that still hold the prefix say so again.
        for other in partitions.iter() {
            if let Some(tier) = other.tier() {
                out.stored(&other.adapter, tier, (block.prefix_hash, other.tokens));
            }
        }
    }
    if partitions.is_empty() {
        entries.remove(&block.prefix_hash);
    }
}
