//! What changes in the index, in the order in which it must be applied.

use crate::model::{AdapterId, PrefixHash, Tier};

/// One change to what the index says of a replica.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Blocks are held, or still held, and this is their hottest tier.
    Stored {
        /// Their partition.
        adapter: AdapterId,
        /// Hottest tier that holds them.
        tier: Tier,
        /// Prefix hash and tokens from the start of the sequence to the end of the block.
        blocks: Vec<(PrefixHash, i32)>,
        /// Whether the blocks are the first ones of a sequence, without a gap.
        sequence_start: bool,
    },
    /// A block is held no more in one partition. With the default partition the index drops it from all of them;
    /// where others still hold it, they are stored again right after.
    Removed {
        /// The block.
        prefix_hash: PrefixHash,
        /// Its partition.
        adapter: AdapterId,
    },
    /// Nothing is held.
    Cleared,
}

/// Collects changes and groups blocks that can go together.
#[derive(Debug, Default)]
pub(super) struct Changes {
    list: Vec<Change>,
    chain: Chain,
}

/// Whether the next block stored goes on a chain from the start of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Chain {
    #[default]
    None,
    Opening,
    Open,
}

impl Changes {
    pub(super) fn begin_sequence(&mut self) {
        self.chain = Chain::Opening;
    }

    pub(super) fn end_sequence(&mut self) {
        self.chain = Chain::None;
    }

    pub(super) fn stored(&mut self, adapter: &AdapterId, tier: Tier, block: (PrefixHash, i32)) {
        let chained = self.chain == Chain::Open;
        if self.chain != Chain::Opening
            && let Some(Change::Stored { adapter: last_adapter, tier: last_tier, blocks, sequence_start }) =
                self.list.last_mut()
            && *sequence_start == chained
            && *last_tier == tier
            && last_adapter == adapter
        {
            blocks.push(block);
            return;
        }
        let sequence_start = self.chain == Chain::Opening;
        self.chain = if sequence_start { Chain::Open } else { Chain::None };
        self.list.push(Change::Stored {
            adapter: adapter.clone(),
            tier,
            blocks: vec![block],
            sequence_start,
        });
    }

    pub(super) fn removed(&mut self, adapter: AdapterId, prefix_hash: PrefixHash) {
        self.end_sequence();
        self.list.push(Change::Removed { prefix_hash, adapter });
    }

    pub(super) fn cleared(&mut self) {
        self.end_sequence();
        self.list.push(Change::Cleared);
    }

    /// How many blocks and removals there are: whether something was added in between.
    pub(super) fn mark(&self) -> (usize, usize) {
        let last = match self.list.last() {
            Some(Change::Stored { blocks, .. }) => blocks.len(),
            _ => 0,
        };
        (self.list.len(), last)
    }

    pub(super) fn into_list(self) -> Vec<Change> {
        self.list
    }
}
