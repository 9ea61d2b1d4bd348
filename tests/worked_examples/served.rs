//! Examples through the real gRPC server.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use icache::contract::wire::inferencecache::v1alpha1 as wire;

use crate::Given;
use crate::examples::{Asked, Example, Hold, MODEL, Prefix, SCHEME, Stats, TENANT};
use crate::server_support::{policies, serve, settings};

/// The server's answer, and the time between the reports' clock and it.
pub async fn answer(example: &Example) -> (Given, Duration) {
    let mut settings = settings();
    settings.policies = policies(&example.policies);
    let world = serve(settings).await;
    let start = Instant::now();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    let now_us = i64::try_from(since.as_micros()).expect("a clock before 294000");
    let holds = example.holds.iter().map(|hold| held(hold, now_us));
    let stats = example.stats.iter().map(|stats| said(stats, now_us));
    world.report(holds.chain(stats).collect()).await;
    let answer = world.lookup(asked(&example.request)).await;
    let replicas = answer
        .replica_scores
        .into_iter()
        .map(|score| (score.replica_id, score.matched_tokens, score.score))
        .collect();
    (Given { reason: answer.reason_code, replicas }, start.elapsed())
}

fn update(replica: &str, now_us: i64, age_s: i64) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        tenant_id: TENANT.to_owned(),
        model_id: MODEL.to_owned(),
        hash_scheme: SCHEME.to_owned(),
        timestamp_us: now_us - age_s * 1_000_000,
        ..Default::default()
    }
}

fn held(hold: &Hold, now_us: i64) -> wire::CacheStateUpdate {
    let (prefix_hash, block_hashes, counts) = fields(&hold.prefix);
    let entry = wire::PrefixEntry {
        token_count: if hold.prefix.is_chain() { 0 } else { hold.prefix.tokens() },
        prefix_hash,
        block_hashes,
        block_token_counts: counts,
        ..Default::default()
    };
    wire::CacheStateUpdate {
        hash_scheme: hold.scheme.to_owned(),
        adapter_id: hold.adapter.to_owned(),
        prefixes: vec![entry],
        ..update(hold.replica, now_us, hold.age_s)
    }
}

fn said(stats: &Stats, now_us: i64) -> wire::CacheStateUpdate {
    let of_replica =
        wire::ReplicaStats { hit_rate: stats.hit_rate, pressure: stats.pressure, ..Default::default() };
    wire::CacheStateUpdate { stats: Some(of_replica), ..update(stats.replica, now_us, stats.age_s) }
}

fn asked(asked: &Asked) -> wire::LookupRouteRequest {
    let (prefix_hash, block_hashes, block_token_counts) = fields(&asked.prefix);
    wire::LookupRouteRequest {
        tenant_id: asked.tenant.to_owned(),
        model_id: asked.model.to_owned(),
        hash_scheme: asked.scheme.to_owned(),
        adapter_id: asked.adapter.to_owned(),
        prefix_token_count: if asked.prefix.is_chain() { 0 } else { asked.prefix.tokens() },
        slo: Some(wire::Slo { ttft_ms: asked.ttft_ms, tbt_ms: 0 }),
        prefix_hash,
        block_hashes,
        block_token_counts,
        ..Default::default()
    }
}

/// prefix_hash, block_hashes and block_token_counts.
fn fields(prefix: &Prefix) -> (Bytes, Vec<Bytes>, Vec<i32>) {
    let hashes: Vec<Bytes> =
        prefix.hashes().into_iter().map(|hash| Bytes::from_static(hash.as_bytes())).collect();
    if prefix.is_chain() {
        let counts = vec![prefix.tokens(); hashes.len()];
        (Bytes::new(), hashes, counts)
    } else {
        (hashes.concat().into(), vec![], vec![])
    }
}
