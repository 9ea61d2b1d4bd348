//! What caches without a choice of engine would reach: the marks that routings are measured by.

use super::cache::BlockCache;
use super::trace::{BLOCK_TOKENS, Trace};

/// Shares that one cache for all requests would reach, each taken in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reachable {
    /// Tokens of all prompts.
    pub asked_tokens: u64,
    /// Tokens that one cache without a bound would find; it holds full blocks, as engines do.
    pub ideal_tokens: u64,
    /// Tokens that one cache with the memory of all engines together would find.
    pub pooled_tokens: u64,
    /// Blocks of all prompts, partial ones included.
    pub asked_blocks: u64,
    /// Blocks that one cache without a bound would find, partial ones included.
    pub ideal_blocks: u64,
}

impl Reachable {
    /// For caches of `pooled_blocks` together.
    pub fn of(trace: &Trace, pooled_blocks: usize) -> Self {
        let mut reachable = Self { asked_tokens: trace.tokens(), ..Self::default() };
        let mut seen = vec![false; trace.distinct_blocks()];
        let mut pooled = BlockCache::new(pooled_blocks);
        for request in trace.requests() {
            let blocks = trace.blocks(request);
            let known = blocks.iter().take_while(|block| seen[**block as usize]).count();
            reachable.asked_blocks += blocks.len() as u64;
            reachable.ideal_blocks += known as u64;
            reachable.ideal_tokens += tokens(known.min(request.full_blocks()));
            reachable.pooled_tokens += tokens(pooled.admit(trace.full_blocks(request)).found);
            blocks.iter().for_each(|block| seen[*block as usize] = true);
        }
        reachable
    }
}

fn tokens(blocks: usize) -> u64 {
    blocks as u64 * u64::from(BLOCK_TOKENS)
}
