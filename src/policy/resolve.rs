//! From fields that may be absent to values that are all there. The only place with defaults.

use std::sync::Arc;

use crate::model::{Eviction, RankerKnobs, ResolvedPolicy, Source, Sourced};

/// Built-in values of the server that policies fall back to.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// `--default-ttl`, in nanoseconds.
    pub ttl_ns: Sourced<i64>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { ttl_ns: Sourced::built_in(30 * 60 * 1_000_000_000) }
    }
}

/// A tenant's policy as written, in the index's units; `None` is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TenantPolicy {
    /// `eviction`.
    pub eviction: Option<Eviction>,
    /// `evictionTTL` in nanoseconds.
    pub ttl_ns: Option<i64>,
    /// `minimumPrefixTokens`.
    pub minimum_prefix_tokens: Option<i32>,
    /// `minimumMatchedTokens`.
    pub minimum_matched_tokens: Option<i32>,
    /// `routingFloorScore`.
    pub routing_floor_score: Option<f32>,
    /// `lookupTimeoutMs`.
    pub lookup_timeout_ms: Option<i32>,
    /// `strategy.enableChainMatching`.
    pub enable_chain_matching: Option<bool>,
    /// `strategy.requireChain`.
    pub require_chain: Option<bool>,
    /// `strategy.enableTenantHot`.
    pub enable_tenant_hot: Option<bool>,
    /// `affinityRouting` is `Enabled`.
    pub affinity_routing: Option<bool>,
    /// `quota.maxIndexEntries` of the CacheTenant.
    pub max_index_entries: Option<u64>,
}

/// The effective policy of a tenant; `object` names what `written` was read from.
pub fn resolve(written: &TenantPolicy, object: &Arc<str>, defaults: &Defaults) -> ResolvedPolicy {
    let pick = Pick { object };
    ResolvedPolicy {
        eviction: pick.or(written.eviction, Eviction::Lru),
        ttl_ns: match written.ttl_ns {
            Some(ttl_ns) => Sourced::new(ttl_ns, Source::Object(Arc::clone(object))),
            None => defaults.ttl_ns.clone(),
        },
        minimum_prefix_tokens: pick.or(written.minimum_prefix_tokens, 0),
        minimum_matched_tokens: pick.or(written.minimum_matched_tokens, 64),
        routing_floor_score: pick.or(written.routing_floor_score, 0.1),
        lookup_timeout_ms: pick.or(written.lookup_timeout_ms, 0),
        enable_chain_matching: pick.or(written.enable_chain_matching, true),
        require_chain: pick.or(written.require_chain, false),
        enable_tenant_hot: pick.or(written.enable_tenant_hot, true),
        affinity_routing: pick.or(written.affinity_routing, true),
        max_index_entries: pick.or(written.max_index_entries, u64::MAX),
    }
}

struct Pick<'a> {
    object: &'a Arc<str>,
}

impl Pick<'_> {
    fn or<T>(&self, written: Option<T>, default: T) -> Sourced<T> {
        match written {
            Some(value) => Sourced::new(value, Source::Object(Arc::clone(self.object))),
            None => Sourced::built_in(default),
        }
    }
}

/// Ranking settings of a server that was told nothing.
pub fn default_ranker() -> RankerKnobs {
    RankerKnobs {
        pressure_weight: Sourced::built_in(1.0),
        slo_tight_ttft_ms: Sourced::built_in(200),
        slo_tight_bias: Sourced::built_in(1.0),
        tenant_hot_max_age_ns: Sourced::built_in(5 * 60 * 1_000_000_000),
        tenant_hot_min_hit_rate: Sourced::built_in(0.1),
        replica_timeout_ns: Sourced::built_in(0),
        block_size: Sourced::built_in(16),
    }
}
