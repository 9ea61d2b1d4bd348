//! From the model to messages.

use bytes::Bytes;

use super::wire::inferencecache::v1alpha1 as wire;
use crate::index::{CacheState, ReplicaState};
use crate::model::{
    Answer, CacheEvent, EventKind, HashList, LookupRequest, PrefixEntry, RankedReplica, ReplicaStats,
    StateUpdate, Tier, Timestamp,
};

/// The number of an entry's unknown tier: the first one without a name. Unspecified would read as T1.
const UNKNOWN_TIER: i32 = wire::CacheTier::T3 as i32 + 1;

/// A lookup as a client sends it.
pub fn encode_request(request: &LookupRequest<'_>) -> wire::LookupRouteRequest {
    let slo = wire::Slo { ttft_ms: request.slo.ttft_ms, tbt_ms: 0 };
    wire::LookupRouteRequest {
        model_id: request.model.to_owned(),
        tenant_id: request.tenant.to_owned(),
        prefix_hash: Bytes::copy_from_slice(request.prefix_hash),
        prefix_token_count: request.prefix_token_count,
        hash_scheme: request.scheme.to_owned(),
        slo: (slo.ttft_ms != 0).then_some(slo),
        block_hashes: encode_hashes(request.block_hashes),
        block_token_counts: request.block_token_counts.to_vec(),
        token_ids: request.token_ids.to_vec(),
        prompt_text: request.prompt_text.to_owned(),
        adapter_id: request.adapter.to_owned(),
    }
}

/// A state update as a producer sends it.
pub fn encode_update(update: &StateUpdate<'_>) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: update.replica.to_owned(),
        model_id: update.model.to_owned(),
        tenant_id: update.tenant.to_owned(),
        hash_scheme: update.scheme.to_owned(),
        timestamp_us: encode_time(update.at),
        prefixes: update.prefixes.iter().map(encode_entry).collect(),
        stats: update.stats.as_ref().map(|stats| encode_stats(update.replica, stats)),
        adapter_id: update.adapter.to_owned(),
    }
}

fn encode_entry(entry: &PrefixEntry<'_>) -> wire::PrefixEntry {
    wire::PrefixEntry {
        prefix_hash: Bytes::copy_from_slice(entry.prefix_hash),
        token_count: entry.token_count,
        block_hashes: encode_hashes(entry.block_hashes),
        block_token_counts: entry.block_token_counts.to_vec(),
        tier: match entry.tier {
            Tier::Unknown => UNKNOWN_TIER,
            tier => encode_tier(tier),
        },
        adapter_id: entry.adapter.to_owned(),
    }
}

fn encode_stats(replica: &str, stats: &ReplicaStats<'_>) -> wire::ReplicaStats {
    wire::ReplicaStats {
        replica_id: replica.to_owned(),
        cache_memory_bytes: stats.cache_memory_bytes,
        hit_rate: stats.hit_rate,
        pressure: stats.pressure,
        client_version: stats.client_version.to_owned(),
        t2_hit_tokens: stats.t2_hit_tokens,
        t2_query_tokens: stats.t2_query_tokens,
    }
}

/// An event as a producer sends it.
pub fn encode_event(event: &CacheEvent<'_>) -> wire::CacheEvent {
    use wire::cache_event::Type;
    let kind = match event.kind {
        EventKind::PrefixAdded => Type::PrefixAdded,
        EventKind::PrefixEvicted => Type::PrefixEvicted,
        EventKind::ReplicaUpdated => Type::ReplicaUpdated,
        EventKind::AllCleared => Type::AllCleared,
        EventKind::Unknown => Type::Unspecified,
    };
    wire::CacheEvent {
        r#type: kind as i32,
        replica_id: event.replica.to_owned(),
        model_id: event.model.to_owned(),
        tenant_id: event.tenant.to_owned(),
        prefix_hash: Bytes::copy_from_slice(event.prefix_hash),
        timestamp_us: encode_time(event.at),
        adapter_id: event.adapter.to_owned(),
    }
}

/// An answer as the server sends it.
pub fn encode_answer(answer: Answer) -> wire::LookupRouteResponse {
    wire::LookupRouteResponse {
        replica_scores: answer.replicas.into_iter().map(encode_score).collect(),
        reason_code: answer.reason_code,
        lookup_latency_us: answer.latency_us,
        token_ids: answer.token_ids,
        adapter_id: answer.adapter,
    }
}

fn encode_score(replica: RankedReplica) -> wire::ReplicaScore {
    wire::ReplicaScore {
        replica_id: replica.replica,
        score: replica.score,
        matched_tokens: replica.matched_tokens,
        estimated_cache_hit_prob: replica.probability,
        tier: encode_tier(replica.tier),
    }
}

/// The state of the index as GetCacheState tells it.
pub fn encode_state(state: CacheState) -> wire::GetCacheStateResponse {
    let count = |keys: u64| i64::try_from(keys).unwrap_or(i64::MAX);
    wire::GetCacheStateResponse {
        replicas: state.replicas.into_iter().map(encode_replica).collect(),
        summary: Some(wire::CacheSummary {
            total_prefixes: count(state.total_prefixes),
            hot_prefixes: count(state.hot_prefixes),
        }),
    }
}

fn encode_replica(state: ReplicaState) -> wire::ReplicaStats {
    wire::ReplicaStats {
        replica_id: state.replica,
        cache_memory_bytes: state.cache_memory_bytes,
        hit_rate: state.hit_rate,
        pressure: state.pressure,
        client_version: state.client_version,
        t2_hit_tokens: state.t2_hit_tokens,
        t2_query_tokens: state.t2_query_tokens,
    }
}

/// Tier of an answer: what is unknown is reported as unspecified.
pub(super) fn encode_tier(tier: Tier) -> i32 {
    let tier = match tier {
        Tier::T1 => wire::CacheTier::T1,
        Tier::T2 => wire::CacheTier::T2,
        Tier::T3 => wire::CacheTier::T3,
        Tier::Unknown => wire::CacheTier::Unspecified,
    };
    tier as i32
}

fn encode_hashes(hashes: HashList<'_>) -> Vec<Bytes> {
    match hashes {
        HashList::Wire(list) => list.to_vec(),
        computed => computed.iter().map(Bytes::copy_from_slice).collect(),
    }
}

fn encode_time(at: Option<Timestamp>) -> i64 {
    at.map_or(0, Timestamp::as_us)
}
