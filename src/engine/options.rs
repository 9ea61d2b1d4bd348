//! How one replica's events are read, and the bounds on what is kept of them.

use std::collections::HashMap;

use crate::model::AdapterId;

/// How a [`super::Mapper`] reads events, and its bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapperOptions {
    /// Names of adapters that engines give by number (`--adapter-names`).
    pub adapter_names: HashMap<i64, AdapterId>,
    /// Index blocks with extra keys or a salt all the same (`--extra-keys ignore`).
    pub ignore_extra_keys: bool,
    /// Take blocks removed from the GPU to be kept in an offload pool that says nothing (`--l2-retains`).
    pub l2_retains: bool,
    /// Blocks held at most; each takes 151 bytes at most, 110 on average.
    pub max_held_blocks: usize,
    /// Blocks taken to be retained at most; the oldest leave first.
    pub max_retained_blocks: usize,
    /// Blocks held back for an unknown parent at most; the oldest make room.
    pub max_held_back_blocks: usize,
    /// Tokens of those blocks at most.
    pub max_held_back_tokens: usize,
    /// How long a block is held back, in nanoseconds.
    pub held_back_ns: i64,
}

impl Default for MapperOptions {
    fn default() -> Self {
        Self {
            adapter_names: HashMap::new(),
            ignore_extra_keys: false,
            l2_retains: false,
            max_held_blocks: 1 << 22,
            max_retained_blocks: 1 << 20,
            max_held_back_blocks: 1 << 16,
            max_held_back_tokens: 1 << 22,
            held_back_ns: 30_000_000_000,
        }
    }
}
