//! By prefix hash and adapter: at which tiers one replica holds it, by how many blocks.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::model::{PrefixHash, Tier};

use super::adapters::Adapters;
use super::changes::Changes;

const TIERS: [Tier; 3] = [Tier::T1, Tier::T2, Tier::T3];

/// Bounded by the blocks held: there is at most one partition for each of them.
#[derive(Debug, Default)]
pub(super) struct Entries {
    table: HashMap<PrefixHash, Partitions, RandomState>,
}

/// What a block is in the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) prefix_hash: PrefixHash,
    pub(super) tokens: i32,
    pub(super) adapter: u32,
}

/// One adapter's share of a prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition {
    pub(super) adapter: u32,
    pub(super) tokens: i32,
    /// Blocks whose hottest place is at T1, T2, T3.
    blocks: [u32; TIERS.len()],
}

/// Nearly all prefixes have one partition, for which nothing is allocated.
#[derive(Debug)]
enum Partitions {
    One(Partition),
    Several(Box<[Partition]>),
}

impl Partition {
    pub(super) fn tier(&self) -> Option<Tier> {
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

impl Partitions {
    fn list(&self) -> &[Partition] {
        match self {
            Self::One(partition) => std::slice::from_ref(partition),
            Self::Several(list) => list,
        }
    }

    fn list_mut(&mut self) -> &mut [Partition] {
        match self {
            Self::One(partition) => std::slice::from_mut(partition),
            Self::Several(list) => list,
        }
    }

    /// The partition of an adapter, made where it is missing.
    fn of(&mut self, entry: Entry) -> &mut Partition {
        let position = self.list().iter().position(|partition| partition.adapter == entry.adapter);
        let position = position.unwrap_or_else(|| {
            let mut list = self.list().to_vec();
            list.push(Partition::of(entry));
            *self = Self::Several(list.into_boxed_slice());
            self.list().len() - 1
        });
        &mut self.list_mut()[position]
    }

    /// Without one adapter's partition; `None` where it was the last.
    fn without(&self, adapter: u32) -> Option<Self> {
        let kept: Vec<Partition> =
            self.list().iter().filter(|partition| partition.adapter != adapter).copied().collect();
        match kept[..] {
            [] => None,
            [one] => Some(Self::One(one)),
            _ => Some(Self::Several(kept.into_boxed_slice())),
        }
    }
}

impl Partition {
    fn of(entry: Entry) -> Self {
        Self { adapter: entry.adapter, tokens: entry.tokens, blocks: [0; TIERS.len()] }
    }
}

impl Entries {
    /// Moves one block from tier to tier (`None`: not held) and says what that changes.
    ///
    /// `stored_at` is the tier of a new copy: at the hottest tier it is said again, since the block was just used; at a
    /// colder one there is nothing to say.
    pub(super) fn shift(
        &mut self,
        entry: Entry,
        (from, to): (Option<Tier>, Option<Tier>),
        stored_at: Option<Tier>,
        adapters: &Adapters,
        out: &mut Changes,
    ) {
        let partitions =
            self.table.entry(entry.prefix_hash).or_insert_with(|| Partitions::One(Partition::of(entry)));
        let partition = partitions.of(entry);
        let before = partition.tier();
        if let Some(from) = from {
            *partition.count(from) -= 1;
        }
        if let Some(to) = to {
            *partition.count(to) += 1;
        }
        let after = partition.tier();
        let adapter = adapters.name(entry.adapter);
        if let Some(tier) = after {
            if before != after || stored_at == after {
                out.stored(adapter, tier, (entry.prefix_hash, partition.tokens));
            }
            return;
        }
        out.removed(adapter.clone(), entry.prefix_hash);
        let Some(others) = partitions.without(entry.adapter) else {
            self.table.remove(&entry.prefix_hash);
            return;
        };
        if adapter.as_str().is_empty() {
            // Without an adapter a removal reaches every partition, so those that still hold the prefix say so again.
            for other in others.list() {
                if let Some(tier) = other.tier() {
                    out.stored(adapters.name(other.adapter), tier, (entry.prefix_hash, other.tokens));
                }
            }
        }
        *partitions = others;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (PrefixHash, &Partition)> {
        self.table
            .iter()
            .flat_map(|(hash, partitions)| partitions.list().iter().map(move |partition| (*hash, partition)))
    }

    pub(super) fn at(&self, prefix_hash: PrefixHash) -> &[Partition] {
        self.table.get(&prefix_hash).map_or(&[], Partitions::list)
    }

    /// Every prefix, those with the fewest tokens first.
    pub(super) fn prefixes(&self) -> Vec<PrefixHash> {
        let mut prefixes: Vec<PrefixHash> = self.table.keys().copied().collect();
        prefixes.sort_unstable_by_key(|hash| (self.at(*hash).first().map(|one| one.tokens), hash.value()));
        prefixes
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_32_bytes() {
        assert_eq!(size_of::<(PrefixHash, Partitions)>(), 32);
    }
}
