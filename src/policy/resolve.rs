//! From fields that may be absent to values that are all there. The only place with defaults.

use std::sync::Arc;

use crate::model::{Eviction, LoadHintCode, Ranker, RankerKnobs, ResolvedPolicy, Source, Sourced};

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
    resolve_from(written, |_| Source::Object(Arc::clone(object)), defaults)
}

/// The effective policy of a tenant; `source` says where the field of a path, as in `spec.evictionTTL`, was written.
pub fn resolve_from(
    written: &TenantPolicy,
    source: impl Fn(&str) -> Source,
    defaults: &Defaults,
) -> ResolvedPolicy {
    let pick = Pick { source };
    ResolvedPolicy {
        eviction: pick.or("spec.eviction", written.eviction, Eviction::Lru),
        ttl_ns: match written.ttl_ns {
            Some(ttl_ns) => Sourced::new(ttl_ns, (pick.source)("spec.evictionTTL")),
            None => defaults.ttl_ns.clone(),
        },
        minimum_prefix_tokens: pick.or("spec.minimumPrefixTokens", written.minimum_prefix_tokens, 0),
        minimum_matched_tokens: pick.or("spec.minimumMatchedTokens", written.minimum_matched_tokens, 64),
        routing_floor_score: pick.or("spec.routingFloorScore", written.routing_floor_score, 0.1),
        lookup_timeout_ms: pick.or("spec.lookupTimeoutMs", written.lookup_timeout_ms, 0),
        enable_chain_matching: pick.or(
            "spec.strategy.enableChainMatching",
            written.enable_chain_matching,
            true,
        ),
        require_chain: pick.or("spec.strategy.requireChain", written.require_chain, false),
        enable_tenant_hot: pick.or("spec.strategy.enableTenantHot", written.enable_tenant_hot, true),
        affinity_routing: pick.or("spec.affinityRouting", written.affinity_routing, true),
        max_index_entries: pick.or("spec.quota.maxIndexEntries", written.max_index_entries, u64::MAX),
    }
}

struct Pick<F> {
    source: F,
}

impl<F: Fn(&str) -> Source> Pick<F> {
    fn or<T>(&self, path: &str, written: Option<T>, default: T) -> Sourced<T> {
        match written {
            Some(value) => Sourced::new(value, (self.source)(path)),
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
        ranker: Sourced::built_in(Ranker::Reference),
        in_flight_ttl_ns: Sourced::built_in(10 * 1_000_000_000),
        prefill_rate: Sourced::built_in(10_000),
        load_hint_code: Sourced::built_in(LoadHintCode::LoadHint),
    }
}
