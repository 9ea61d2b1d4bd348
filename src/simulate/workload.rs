//! Synthetic traces: the kinds of traffic that a routing has to cope with, made from a seed.
//!
//! Arrivals are independent of each other: so many instants drawn evenly from the span, in order. Everything is whole
//! numbers, so that a seed gives the same trace on every machine.

use hashbrown::HashMap;

use super::gateway::SplitMix64;
use super::trace::{BLOCK_TOKENS, Trace};

/// Requests of a synthetic trace, unless told otherwise.
pub const DEFAULT_WORKLOAD_REQUESTS: usize = 6_000;
/// Requests of a synthetic trace at most.
pub const MAX_WORKLOAD_REQUESTS: usize = 200_000;

/// Requests of one burst.
const BURST: usize = 40;
/// Milliseconds between two requests of a burst.
const BURST_GAP_MS: u64 = 50;
/// Milliseconds that a request of a synthetic trace stands for, before it is brought to a utilisation.
const REQUEST_MS: u64 = 100;

/// A kind of synthetic traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Workload {
    /// 400 heads of 40 blocks, some far more popular than others, each with a tail of its own.
    SharedHeads,
    /// Single turns of 1 to 24 blocks that share the first block and nothing else.
    Diffuse,
    /// Half single turns, half bursts: 40 times the same prompt of 24 blocks within two seconds.
    Burst,
    /// Half of all requests have one prefix of 24 blocks, the others one of 400 heads.
    HotPrefix,
}

impl Workload {
    /// Every kind.
    pub const ALL: &'static [Workload] = &[Self::SharedHeads, Self::Diffuse, Self::Burst, Self::HotPrefix];

    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedHeads => "shared-heads",
            Self::Diffuse => "diffuse",
            Self::Burst => "burst",
            Self::HotPrefix => "hot-prefix",
        }
    }

    /// The kind called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|workload| workload.name() == name)
    }

    /// A trace of `requests` requests, at most [`MAX_WORKLOAD_REQUESTS`], ten a second.
    pub fn trace(self, requests: usize, seed: u64) -> Trace {
        let requests = requests.clamp(1, MAX_WORKLOAD_REQUESTS);
        let mut maker = Maker { random: SplitMix64::new(seed ^ 0x6963_6163_6865), next_id: 1_000_000 };
        let mut prompts = maker.prompts(self, requests);
        // Ties keep the order in which they were made.
        prompts.sort_by_key(|prompt| prompt.at_ms);
        let mut trace = Trace::default();
        let mut numbers = HashMap::new();
        for Prompt { at_ms, ids, partial } in prompts {
            let tokens = ids.len() as u64 * u64::from(BLOCK_TOKENS) - partial;
            trace.add((at_ms as f64, tokens, &ids), &mut numbers);
        }
        trace
    }
}

/// One request in the making.
struct Prompt {
    at_ms: u64,
    ids: Vec<u32>,
    /// Tokens that its last block lacks.
    partial: u64,
}

struct Maker {
    random: SplitMix64,
    next_id: u32,
}

impl Maker {
    fn prompts(&mut self, workload: Workload, requests: usize) -> Vec<Prompt> {
        let mut prompts = Vec::with_capacity(requests);
        while prompts.len() < requests {
            let at_ms = self.below(requests as u64 * REQUEST_MS);
            match workload {
                Workload::SharedHeads => prompts.push(self.headed(at_ms)),
                Workload::Diffuse => prompts.push(self.single(at_ms)),
                Workload::HotPrefix if self.below(2) == 0 => {
                    let tail = 1 + self.below(8);
                    prompts.push(self.prompt(at_ms, (500_000..500_024).collect(), tail));
                }
                Workload::HotPrefix => prompts.push(self.headed(at_ms)),
                // As many requests come in bursts as come alone.
                Workload::Burst if self.below(BURST as u64 + 1) > 0 => prompts.push(self.single(at_ms)),
                Workload::Burst => {
                    let prompt = self.prompt(at_ms, vec![0], 23);
                    let left = requests - prompts.len();
                    prompts.extend((0..BURST.min(left) as u64).map(|at| Prompt {
                        at_ms: at_ms + at * BURST_GAP_MS,
                        ids: prompt.ids.clone(),
                        partial: prompt.partial,
                    }));
                }
            }
        }
        prompts
    }

    /// A head, the more popular the lower its number, and a tail of 1 to 8 blocks.
    fn headed(&mut self, at_ms: u64) -> Prompt {
        let head = self.below(400).min(self.below(400)).min(self.below(400)) as u32;
        let tail = 1 + self.below(8);
        self.prompt(at_ms, (0..40).map(|block| 1_000 + head * 64 + block).collect(), tail)
    }

    fn single(&mut self, at_ms: u64) -> Prompt {
        let tail = self.below(24);
        self.prompt(at_ms, vec![0], tail)
    }

    /// A prompt that begins with `head` and goes on with `tail` blocks of its own.
    fn prompt(&mut self, at_ms: u64, head: Vec<u32>, tail: u64) -> Prompt {
        let first = self.next_id;
        self.next_id += tail as u32;
        let partial = if tail > 0 { self.below(u64::from(BLOCK_TOKENS)) } else { 0 };
        Prompt { at_ms, ids: head.into_iter().chain(first..self.next_id).collect(), partial }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound as usize) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_a_trace_and_another_seed_another() {
        for workload in Workload::ALL {
            assert_eq!(Workload::parse(workload.name()), Some(*workload));
            let [first, again, other] = [1, 1, 2].map(|seed| workload.trace(500, seed));
            assert_eq!(first.requests(), again.requests(), "{workload:?}");
            assert_ne!(first.requests(), other.requests(), "{workload:?}");
            assert_eq!(first.requests().len(), 500);
            assert!(first.requests().is_sorted_by_key(|request| request.at_ns));
        }
    }

    #[test]
    fn half_of_the_requests_come_in_bursts_and_half_have_the_hot_prefix() {
        let burst = Workload::Burst.trace(8_000, 3);
        let mut times = std::collections::BTreeMap::new();
        for request in burst.requests() {
            *times.entry(burst.chain(request).last().copied()).or_insert(0) += 1;
        }
        let bursts: usize =
            times.iter().filter(|(last, n)| last.is_some() && **n == BURST).map(|(_, n)| n).sum();
        assert!((3_000..5_000).contains(&bursts), "{bursts}");
        let hot = Workload::HotPrefix.trace(8_000, 3);
        let head = hot.requests().iter().filter_map(|request| hot.chain(request).get(23).copied());
        let mut by_head = std::collections::BTreeMap::new();
        head.for_each(|hash| *by_head.entry(hash).or_insert(0) += 1);
        assert!((3_800..4_200).contains(by_head.values().max().unwrap_or(&0)), "{by_head:?}");
    }
}
