//! The cache of a modelled engine: so many blocks, the least recently used leave first.

use std::collections::BTreeMap;

use hashbrown::HashMap;

/// Blocks by number, in the order of their last use.
///
/// Of one prompt the tail counts as used before the head, as engines free the blocks of a prompt from its end: what is
/// left of a prompt is always a leading part of it.
#[derive(Clone, Debug)]
pub struct BlockCache {
    capacity: usize,
    uses: HashMap<u32, u64>,
    order: BTreeMap<u64, u32>,
    clock: u64,
}

/// What taking a prompt into a cache came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Admitted {
    /// Leading blocks that were there.
    pub found: usize,
    /// Leading blocks that are there now: all, unless the prompt is larger than the cache.
    pub kept: usize,
    /// Blocks that had to go, in order.
    pub evicted: Vec<u32>,
}

impl BlockCache {
    /// An empty cache of `capacity` blocks.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, uses: HashMap::new(), order: BTreeMap::new(), clock: 0 }
    }

    /// Leading blocks of `prompt` that are held.
    pub fn leading(&self, prompt: &[u32]) -> usize {
        prompt.iter().take_while(|block| self.uses.contains_key(*block)).count()
    }

    /// Uses the blocks of `prompt`; those that are missing come in, and others go for them.
    pub fn admit(&mut self, prompt: &[u32]) -> Admitted {
        let found = self.leading(prompt);
        let kept = prompt.len().min(self.capacity);
        for block in prompt[..kept].iter().rev() {
            self.clock += 1;
            self.order.insert(self.clock, *block);
            if let Some(last) = self.uses.insert(*block, self.clock) {
                self.order.remove(&last);
            }
        }
        let mut evicted = Vec::new();
        while self.uses.len() > self.capacity
            && let Some((_, block)) = self.order.pop_first()
        {
            self.uses.remove(&block);
            evicted.push(block);
        }
        Admitted { found, kept, evicted }
    }

    /// The blocks held, least recently used first.
    pub fn held(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.values().copied()
    }

    /// Blocks held.
    pub fn len(&self) -> usize {
        self.uses.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }
}
