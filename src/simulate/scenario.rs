//! What a fleet may be besides uniform, whole and asked by one gateway.

use super::cache::BlockCache;
use super::trace::{BLOCK_TOKENS, Trace};

/// Gateways, and servers, at most.
pub const MAX_GATEWAYS: usize = 64;
/// Faults of one simulation at most.
pub const MAX_FAULTS: usize = 64;
/// Highest utilisation that a trace is brought to, in percent.
pub const MAX_UTILISATION: u32 = 200;

/// What differs from one server in front of equal engines that never fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    /// Prefill rate of each engine in tokens a second, where they differ; repeated where there are fewer than engines.
    pub prefill_rates: Vec<u64>,
    /// Gateways that share the requests in turn, 1 to [`MAX_GATEWAYS`]; each knows what it has sent itself.
    pub gateways: usize,
    /// Servers, each asked by its share of the gateways, 1 to the number of gateways.
    pub servers: usize,
    /// Whether an engine reports to one of the servers, in place of all.
    pub split_reports: bool,
    /// What breaks.
    pub faults: Vec<Fault>,
    /// A replica not heard of for longer gets no hints, in nanoseconds; 0 is off.
    pub replica_timeout_ns: i64,
    /// Percent of their time that the engines prefill under round-robin; the trace's clock is stretched to it. `None`
    /// keeps the clock.
    pub utilisation: Option<u32>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            prefill_rates: Vec::new(),
            gateways: 1,
            servers: 1,
            split_reports: false,
            faults: Vec::new(),
            replica_timeout_ns: 0,
            utilisation: None,
        }
    }
}

/// Something that happens to one engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The engine, from 0.
    pub replica: usize,
    /// Nanoseconds from the first arrival.
    pub at_ns: i64,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens to an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Engine and sidecar are gone without a word.
    Kill,
    /// Engine and sidecar begin anew, with an empty cache, and say so.
    Restart,
}

impl FaultKind {
    /// The flag that asks for it.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Kill => "--kill",
            Self::Restart => "--restart",
        }
    }
}

impl Scenario {
    /// Prefill rate of an engine, where all have `rate` unless said otherwise.
    pub fn rate(&self, replica: usize, rate: u64) -> u64 {
        let rates = &self.prefill_rates;
        if rates.is_empty() { rate } else { rates[replica % rates.len()] }
    }
}

/// How much the clock of `trace` must go slower for engines of `rates` and `blocks` to prefill `percent` of their time under
/// round-robin; what round-robin finds does not depend on the clock.
pub(super) fn stretch(trace: &Trace, rates: &[u64], blocks: usize, percent: u32) -> f64 {
    let mut caches: Vec<BlockCache> = rates.iter().map(|_| BlockCache::new(blocks)).collect();
    let mut computed = 0_u64;
    for (at, request) in trace.requests().iter().enumerate() {
        let place = at % caches.len().max(1);
        let found = caches[place].admit(trace.full_blocks(request)).found as u64 * u64::from(BLOCK_TOKENS);
        computed += request.tokens - found;
    }
    let ends = (trace.requests().first(), trace.requests().last());
    let span_ns = ends.1.map_or(0, |last| last.at_ns) - ends.0.map_or(0, |first| first.at_ns);
    let wanted_s = computed as f64 * 100.0 / f64::from(percent) / rates.iter().sum::<u64>().max(1) as f64;
    if span_ns > 0 { wanted_s * 1e9 / span_ns as f64 } else { 1.0 }
}
