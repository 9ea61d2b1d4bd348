//! From messages to the model. Nothing is checked here: what is wrong with a message is for the decision and the index
//! to say.

use super::wire::inferencecache::v1alpha1 as wire;
use crate::index::{CacheState, ReplicaState};
use crate::model::{
    Answer, CacheEvent, EventKind, HashList, LookupRequest, PrefixEntry, RankedReplica, ReplicaStats, Slo,
    StateUpdate, Tier, Timestamp,
};

/// A lookup, borrowed from its message.
pub fn decode_request(message: &wire::LookupRouteRequest) -> LookupRequest<'_> {
    LookupRequest {
        tenant: &message.tenant_id,
        model: &message.model_id,
        scheme: &message.hash_scheme,
        adapter: &message.adapter_id,
        prefix_hash: &message.prefix_hash,
        prefix_token_count: message.prefix_token_count,
        block_hashes: HashList::Wire(&message.block_hashes),
        block_token_counts: &message.block_token_counts,
        token_ids: &message.token_ids,
        prompt_text: &message.prompt_text,
        slo: message.slo.map(|slo| Slo { ttft_ms: slo.ttft_ms }).unwrap_or_default(),
    }
}

/// A state update, borrowed from its message.
pub fn decode_update(message: &wire::CacheStateUpdate) -> StateUpdate<'_> {
    StateUpdate {
        replica: &message.replica_id,
        tenant: &message.tenant_id,
        model: &message.model_id,
        scheme: &message.hash_scheme,
        adapter: &message.adapter_id,
        at: decode_time(message.timestamp_us),
        prefixes: message.prefixes.iter().map(decode_entry).collect(),
        stats: message.stats.as_ref().map(decode_stats),
    }
}

fn decode_entry(message: &wire::PrefixEntry) -> PrefixEntry<'_> {
    PrefixEntry {
        prefix_hash: &message.prefix_hash,
        token_count: message.token_count,
        block_hashes: HashList::Wire(&message.block_hashes),
        block_token_counts: &message.block_token_counts,
        tier: match message.tier {
            0 => Tier::T1,
            number => decode_tier(number),
        },
        adapter: &message.adapter_id,
    }
}

/// The replica is named by the update; the nested name is ignored.
fn decode_stats(message: &wire::ReplicaStats) -> ReplicaStats<'_> {
    ReplicaStats {
        cache_memory_bytes: message.cache_memory_bytes,
        hit_rate: message.hit_rate,
        pressure: message.pressure,
        client_version: &message.client_version,
        t2_hit_tokens: message.t2_hit_tokens,
        t2_query_tokens: message.t2_query_tokens,
    }
}

/// An event, borrowed from its message.
pub fn decode_event(message: &wire::CacheEvent) -> CacheEvent<'_> {
    use wire::cache_event::Type;
    CacheEvent {
        kind: match Type::try_from(message.r#type) {
            Ok(Type::PrefixAdded) => EventKind::PrefixAdded,
            Ok(Type::PrefixEvicted) => EventKind::PrefixEvicted,
            Ok(Type::ReplicaUpdated) => EventKind::ReplicaUpdated,
            Ok(Type::AllCleared) => EventKind::AllCleared,
            Ok(Type::Unspecified) | Err(_) => EventKind::Unknown,
        },
        replica: &message.replica_id,
        tenant: &message.tenant_id,
        model: &message.model_id,
        prefix_hash: &message.prefix_hash,
        adapter: &message.adapter_id,
        at: decode_time(message.timestamp_us),
    }
}

/// An answer.
pub fn decode_answer(message: wire::LookupRouteResponse) -> Answer {
    Answer {
        reason_code: message.reason_code,
        replicas: message.replica_scores.into_iter().map(decode_score).collect(),
        latency_us: message.lookup_latency_us,
        token_ids: message.token_ids,
        adapter: message.adapter_id,
    }
}

fn decode_score(message: wire::ReplicaScore) -> RankedReplica {
    RankedReplica {
        replica: message.replica_id,
        score: message.score,
        matched_tokens: message.matched_tokens,
        probability: message.estimated_cache_hit_prob,
        tier: decode_tier(message.tier),
    }
}

/// The state of the index, as GetCacheState tells it.
pub fn decode_state(message: wire::GetCacheStateResponse) -> CacheState {
    let summary = message.summary.unwrap_or_default();
    CacheState {
        replicas: message.replicas.into_iter().map(decode_replica).collect(),
        total_prefixes: u64::try_from(summary.total_prefixes).unwrap_or(0),
        hot_prefixes: u64::try_from(summary.hot_prefixes).unwrap_or(0),
    }
}

fn decode_replica(message: wire::ReplicaStats) -> ReplicaState {
    ReplicaState {
        replica: message.replica_id,
        cache_memory_bytes: message.cache_memory_bytes,
        hit_rate: message.hit_rate,
        pressure: message.pressure,
        client_version: message.client_version,
        t2_hit_tokens: message.t2_hit_tokens,
        t2_query_tokens: message.t2_query_tokens,
    }
}

/// A number without a name, positive or negative, never claims a known tier.
pub(super) fn decode_tier(number: i32) -> Tier {
    match wire::CacheTier::try_from(number) {
        Ok(wire::CacheTier::T1) => Tier::T1,
        Ok(wire::CacheTier::T2) => Tier::T2,
        Ok(wire::CacheTier::T3) => Tier::T3,
        Ok(wire::CacheTier::Unspecified) | Err(_) => Tier::Unknown,
    }
}

fn decode_time(us: i64) -> Option<Timestamp> {
    (us != 0).then(|| Timestamp::from_us(us))
}
