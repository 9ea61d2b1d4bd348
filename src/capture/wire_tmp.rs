//! Wire messages to the model.

use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::model::{
    Answer, CacheEvent, EventKind, HashList, LookupRequest, PrefixEntry, RankedReplica, ReplicaStats, Slo,
    StateUpdate, Tier, Timestamp,
};

/// A lookup, borrowed from its message.
pub fn decode_request(request: &wire::LookupRouteRequest) -> LookupRequest<'_> {
    LookupRequest {
        tenant: &request.tenant_id,
        model: &request.model_id,
        scheme: &request.hash_scheme,
        adapter: &request.adapter_id,
        prefix_hash: &request.prefix_hash,
        prefix_token_count: request.prefix_token_count,
        block_hashes: HashList::Wire(&request.block_hashes),
        block_token_counts: &request.block_token_counts,
        token_ids: &request.token_ids,
        prompt_text: &request.prompt_text,
        slo: Slo { ttft_ms: request.slo.as_ref().map_or(0, |slo| slo.ttft_ms) },
    }
}

/// An update, borrowed from its message.
pub fn decode_update(update: &wire::CacheStateUpdate) -> StateUpdate<'_> {
    StateUpdate {
        replica: &update.replica_id,
        tenant: &update.tenant_id,
        model: &update.model_id,
        scheme: &update.hash_scheme,
        adapter: &update.adapter_id,
        at: timestamp(update.timestamp_us),
        prefixes: update.prefixes.iter().map(prefix).collect(),
        stats: update.stats.as_ref().map(|stats| ReplicaStats {
            cache_memory_bytes: stats.cache_memory_bytes,
            hit_rate: stats.hit_rate,
            pressure: stats.pressure,
            client_version: &stats.client_version,
            t2_hit_tokens: stats.t2_hit_tokens,
            t2_query_tokens: stats.t2_query_tokens,
        }),
    }
}

fn prefix(entry: &wire::PrefixEntry) -> PrefixEntry<'_> {
    PrefixEntry {
        prefix_hash: &entry.prefix_hash,
        token_count: entry.token_count,
        block_hashes: HashList::Wire(&entry.block_hashes),
        block_token_counts: &entry.block_token_counts,
        tier: match entry.tier {
            0 => Tier::T1,
            other => tier(other),
        },
        adapter: &entry.adapter_id,
    }
}

/// An event, borrowed from its message.
pub fn decode_event(event: &wire::CacheEvent) -> CacheEvent<'_> {
    CacheEvent {
        kind: match event.r#type {
            1 => EventKind::PrefixAdded,
            2 => EventKind::PrefixEvicted,
            3 => EventKind::ReplicaUpdated,
            4 => EventKind::AllCleared,
            _ => EventKind::Unknown,
        },
        replica: &event.replica_id,
        tenant: &event.tenant_id,
        model: &event.model_id,
        prefix_hash: &event.prefix_hash,
        adapter: &event.adapter_id,
        at: timestamp(event.timestamp_us),
    }
}

/// An answer.
pub fn decode_answer(answer: wire::LookupRouteResponse) -> Answer {
    let replicas = answer.replica_scores.into_iter().map(|replica| RankedReplica {
        replica: replica.replica_id,
        score: replica.score,
        matched_tokens: replica.matched_tokens,
        probability: replica.estimated_cache_hit_prob,
        tier: tier(replica.tier),
    });
    Answer {
        replicas: replicas.collect(),
        reason_code: answer.reason_code,
        latency_us: answer.lookup_latency_us,
        token_ids: answer.token_ids,
        adapter: answer.adapter_id,
    }
}

fn tier(number: i32) -> Tier {
    match number {
        1 => Tier::T1,
        2 => Tier::T2,
        3 => Tier::T3,
        _ => Tier::Unknown,
    }
}

fn timestamp(us: i64) -> Option<Timestamp> {
    (us != 0).then(|| Timestamp::from_us(us))
}
