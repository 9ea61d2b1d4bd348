//! What a policy and the server's flags come to: every value present, each with where it came from.

use std::fmt;
use std::sync::Arc;

/// Where an effective value came from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Source {
    /// Built in.
    #[default]
    Default,
    /// A server setting: the flag.
    Flag(&'static str),
    /// A server setting: the flag, variable, or file and line that gave it, as one text.
    Setting(Arc<str>),
    /// The replay, which is not under the load of the server that was recorded.
    Replay,
    /// A policy object: its name, and file and line where known, as one text.
    Object(Arc<str>),
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::Flag(flag) => write!(out, "flag {flag}"),
            Self::Replay => out.write_str("replay"),
            Self::Setting(text) | Self::Object(text) => out.write_str(text),
        }
    }
}

/// A value and its source.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sourced<T> {
    /// The effective value.
    pub value: T,
    /// Where it came from.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A value from `source`.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// A built-in value.
    pub fn built_in(value: T) -> Self {
        Self::new(value, Source::Default)
    }
}

/// Victim order when the index is over its cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Eviction {
    /// Oldest last seen first.
    #[default]
    Lru,
    /// Lowest access count first, then oldest.
    Lfu,
}

impl Eviction {
    /// As written in a policy.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lru => "LRU",
            Self::Lfu => "LFU",
        }
    }
}

/// The effective policy of one tenant. Zero switches a gate or floor off.
#[derive(Clone, PartialEq, Debug)]
pub struct ResolvedPolicy {
    /// `eviction`.
    pub eviction: Sourced<Eviction>,
    /// `evictionTTL` in nanoseconds, above 0.
    pub ttl_ns: Sourced<i64>,
    /// `minimumPrefixTokens`; 0 is no gate.
    pub minimum_prefix_tokens: Sourced<i32>,
    /// `minimumMatchedTokens`; 0 is no floor.
    pub minimum_matched_tokens: Sourced<i32>,
    /// `routingFloorScore`; 0 is no floor.
    pub routing_floor_score: Sourced<f32>,
    /// `lookupTimeoutMs`; 0 is no budget.
    pub lookup_timeout_ms: Sourced<i32>,
    /// `strategy.enableChainMatching`.
    pub enable_chain_matching: Sourced<bool>,
    /// `strategy.requireChain`.
    pub require_chain: Sourced<bool>,
    /// `strategy.enableTenantHot`.
    pub enable_tenant_hot: Sourced<bool>,
    /// `affinityRouting` is `Enabled`.
    pub affinity_routing: Sourced<bool>,
    /// `quota.maxIndexEntries`: distinct keys; `u64::MAX` is no bound.
    pub max_index_entries: Sourced<u64>,
}

/// Ranking settings of the server, the same for every tenant. Zero switches a term off.
#[derive(Clone, PartialEq, Debug)]
pub struct RankerKnobs {
    /// `PressureWeight`: how much a replica's pressure lowers its score.
    pub pressure_weight: Sourced<f32>,
    /// `SLOTightTTFTMs`: requests with a lower TTFT target favour fresh holders.
    pub slo_tight_ttft_ms: Sourced<i32>,
    /// `SLOTightBias`: how much they do.
    pub slo_tight_bias: Sourced<f32>,
    /// `TenantHotMaxAge` in nanoseconds: statistics older than this do not make a replica warm.
    pub tenant_hot_max_age_ns: Sourced<i64>,
    /// `TenantHotMinHitRate`: the lowest hit rate of a warm replica.
    pub tenant_hot_min_hit_rate: Sourced<f32>,
    /// `--replica-timeout` in nanoseconds: a replica not heard of for longer gets no hints.
    pub replica_timeout_ns: Sourced<i64>,
    /// `--block-size`: tokens in a block when the server builds the chain.
    pub block_size: Sourced<u32>,
    /// `--ranker`: what replicas are ranked by.
    pub ranker: Sourced<Ranker>,
    /// `--in-flight-ttl` in nanoseconds: how long the chain of a delivered hint counts as held, beyond the time that its
    /// prefill is expected to take. Balanced ranker only, as all that follows.
    pub in_flight_ttl_ns: Sourced<i64>,
    /// `--prefill-rate`: tokens that a replica prefills in a second, until its reports tell; above 0.
    pub prefill_rate: Sourced<u32>,
    /// `--load-hint-code`: what a hint without cache evidence is called.
    pub load_hint_code: Sourced<LoadHintCode>,
}

/// What replicas are ranked by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ranker {
    /// Who holds how much of the prefix.
    #[default]
    Reference,
    /// How long the request is expected to wait for its first token.
    Balanced,
}

impl Ranker {
    /// As written on the command line.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Balanced => "balanced",
        }
    }

    /// The ranker called `label`.
    pub fn parse(label: &str) -> Option<Self> {
        [Self::Reference, Self::Balanced].into_iter().find(|ranker| ranker.label() == label)
    }
}

/// What a hint without cache evidence is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoadHintCode {
    /// `LOAD_HINT`, with score and matched tokens.
    #[default]
    LoadHint,
    /// `AFFINITY_HINT`, in its shape, for clients that know no other.
    Affinity,
}

impl LoadHintCode {
    /// As written on the command line.
    pub fn label(self) -> &'static str {
        match self {
            Self::LoadHint => "load-hint",
            Self::Affinity => "affinity",
        }
    }

    /// The code called `label`.
    pub fn parse(label: &str) -> Option<Self> {
        [Self::LoadHint, Self::Affinity].into_iter().find(|code| code.label() == label)
    }
}
