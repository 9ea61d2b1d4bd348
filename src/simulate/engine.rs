//! A modelled engine: a cache, a queue, and one prompt at a time through the prefill.

use std::collections::VecDeque;

use super::cache::BlockCache;
use super::gateway::Answered;
use super::trace::{BLOCK_TOKENS, Trace};
use crate::engine::{Change, Held};
use crate::model::{AdapterId, Tier};

/// Nanoseconds in a second.
const SECOND_NS: u128 = 1_000_000_000;

/// A request in the queue of an engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// Its place in the trace.
    pub(super) request: usize,
    /// Leading blocks of it that the best-placed engine held when it was routed.
    pub(super) best_blocks: usize,
    /// The answer of LookupRoute that its place rests on.
    pub(super) answered: Option<Answered>,
    /// The gateway that sent it.
    pub(super) gateway: usize,
}

/// A prefill.
#[derive(Clone, Debug)]
pub(super) struct Prefill {
    pub(super) queued: Queued,
    /// Tokens found in the cache.
    pub(super) found_tokens: u64,
    /// How long that takes, in nanoseconds.
    pub(super) span_ns: i64,
    /// Blocks that it brings into the cache: a range of the prompt's.
    fresh: (usize, usize),
    /// Blocks that had to go for them.
    evicted: Vec<u32>,
}

/// One engine.
#[derive(Debug)]
pub(super) struct Engine {
    cache: BlockCache,
    capacity: usize,
    prefill_rate: u64,
    queue: VecDeque<Queued>,
    running: Option<Prefill>,
    /// How often it was killed: the end of a prefill is one of the life that it began in.
    life: u32,
    is_alive: bool,
    adapter: AdapterId,
    /// Tokens asked and found since the statistics were taken last.
    asked: u64,
    found: u64,
    hit_rate: f32,
}

impl Engine {
    pub(super) fn new(capacity: usize, prefill_rate: u64) -> Self {
        Self {
            cache: BlockCache::new(capacity),
            capacity,
            prefill_rate,
            queue: VecDeque::new(),
            running: None,
            life: 0,
            is_alive: true,
            adapter: AdapterId::from(""),
            asked: 0,
            found: 0,
            hit_rate: 0.0,
        }
    }

    /// Leading blocks of a prompt that it holds, or is computing.
    pub(super) fn leading(&self, prompt: &[u32]) -> usize {
        self.cache.leading(prompt)
    }

    /// Whether it answers.
    pub(super) fn is_alive(&self) -> bool {
        self.is_alive
    }

    /// How often it was killed.
    pub(super) fn life(&self) -> u32 {
        self.life
    }

    /// Drops everything; the requests that waited or ran.
    pub(super) fn kill(&mut self) -> Vec<Queued> {
        let running = self.running.take().map(|prefill| prefill.queued);
        let lost = running.into_iter().chain(std::mem::take(&mut self.queue)).collect();
        let fresh = Self::new(self.capacity, self.prefill_rate);
        *self = Self { life: self.life + 1, is_alive: false, ..fresh };
        lost
    }

    /// Begins anew; nothing where it is alive.
    pub(super) fn restart(&mut self) {
        self.is_alive = true;
    }

    /// Puts a request at the end of the queue.
    pub(super) fn enqueue(&mut self, queued: Queued) {
        self.queue.push_back(queued);
    }

    /// Whether nothing is prefilled.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none()
    }

    /// Begins with the next request of the queue, if there is one.
    pub(super) fn begin(&mut self, trace: &Trace) -> Option<&Prefill> {
        let queued = self.queue.pop_front()?;
        let request = trace.requests().get(queued.request)?;
        let admitted = self.cache.admit(trace.full_blocks(request));
        let found_tokens = admitted.found as u64 * u64::from(BLOCK_TOKENS);
        let prefilled_tokens = request.tokens - found_tokens;
        self.asked += request.tokens;
        self.found += found_tokens;
        Some(self.running.insert(Prefill {
            queued,
            found_tokens,
            span_ns: span_ns(prefilled_tokens, self.prefill_rate),
            fresh: (admitted.found, admitted.kept.max(admitted.found)),
            evicted: admitted.evicted,
        }))
    }

    /// Ends the running prefill.
    pub(super) fn finish(&mut self) -> Option<Prefill> {
        self.running.take()
    }

    /// Everything that the index should have of it: what is held, less what is still being computed.
    pub(super) fn held(&self, trace: &Trace, with_running: bool) -> Vec<Held<'_>> {
        let running = self.running.iter().filter(|_| !with_running).flat_map(|prefill| prefill.fresh(trace));
        let unfinished: hashbrown::HashSet<u32> = running.copied().collect();
        let held = self.cache.held().filter(|block| !unfinished.contains(block)).filter_map(|block| {
            let (prefix_hash, cumulative_tokens) = trace.block(block)?;
            Some(Held { adapter: &self.adapter, prefix_hash, cumulative_tokens, tier: Tier::T1 })
        });
        held.collect()
    }

    /// Hit rate since it was asked for last, and the share of the cache that running prompts occupy.
    pub(super) fn take_stats(&mut self, trace: &Trace) -> (f32, f32) {
        if self.asked > 0 {
            self.hit_rate = (self.found as f64 / self.asked as f64) as f32;
        }
        (self.asked, self.found) = (0, 0);
        let request = self.running.as_ref().and_then(|running| trace.requests().get(running.queued.request));
        let occupied = request.map_or(0, |request| trace.blocks(request).len());
        let pressure = occupied as f64 / self.capacity.max(1) as f64;
        (self.hit_rate, pressure.min(1.0) as f32)
    }
}

impl Prefill {
    fn fresh<'a>(&self, trace: &'a Trace) -> &'a [u32] {
        let request = trace.requests().get(self.queued.request);
        let blocks = request.map(|request| trace.full_blocks(request)).unwrap_or_default();
        blocks.get(self.fresh.0..self.fresh.1).unwrap_or_default()
    }

    /// What had to go, as changes to the index.
    pub(super) fn removed(&self, trace: &Trace) -> Vec<Change> {
        let hashes = self.evicted.iter().filter_map(|block| trace.block(*block));
        hashes.map(|(prefix_hash, _)| Change::Removed { prefix_hash, adapter: AdapterId::from("") }).collect()
    }

    /// What came in, as changes to the index.
    pub(super) fn stored(&self, trace: &Trace) -> Vec<Change> {
        let blocks: Vec<_> = self.fresh(trace).iter().filter_map(|block| trace.block(*block)).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        let sequence_start = self.fresh.0 == 0;
        vec![Change::Stored { adapter: AdapterId::from(""), tier: Tier::T1, blocks, sequence_start }]
    }
}

/// Nanoseconds that prefilling takes, rounded up.
fn span_ns(tokens: u64, rate: u64) -> i64 {
    let ns = (u128::from(tokens) * SECOND_NS).div_ceil(u128::from(rate.max(1)));
    i64::try_from(ns).unwrap_or(i64::MAX)
}
