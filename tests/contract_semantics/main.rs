//! The semantics of the wire contract that its messages do not show, each line a test through a real server.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod calls;
mod events;
mod evictions;
mod ingest;
mod load;
mod state;

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use icache::contract::wire::inferencecache::v1alpha1 as wire;

const TENANT: &str = "team-a";
const MODEL: &str = "llama";
const SCHEME: &str = "vllm";

const MINUTE_US: i64 = 60_000_000;

fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_micros()).expect("a clock before 294000")
}

/// An update of `replica` that holds `prefixes`.
fn update(replica: &str, prefixes: Vec<wire::PrefixEntry>) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: MODEL.to_owned(),
        tenant_id: TENANT.to_owned(),
        hash_scheme: SCHEME.to_owned(),
        prefixes,
        ..Default::default()
    }
}

/// A single hash of 100 tokens.
fn exact(hash: &str) -> wire::PrefixEntry {
    wire::PrefixEntry {
        prefix_hash: Bytes::copy_from_slice(hash.as_bytes()),
        token_count: 100,
        ..Default::default()
    }
}

/// A chain with the tokens of each block.
fn chain(blocks: &[(&str, i32)]) -> wire::PrefixEntry {
    wire::PrefixEntry {
        block_hashes: hashes(blocks),
        block_token_counts: blocks.iter().map(|(_, tokens)| *tokens).collect(),
        ..Default::default()
    }
}

fn hashes(blocks: &[(&str, i32)]) -> Vec<Bytes> {
    blocks.iter().map(|(hash, _)| Bytes::copy_from_slice(hash.as_bytes())).collect()
}

/// An exact lookup.
fn ask(hash: &str) -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        model_id: MODEL.to_owned(),
        tenant_id: TENANT.to_owned(),
        hash_scheme: SCHEME.to_owned(),
        prefix_hash: Bytes::copy_from_slice(hash.as_bytes()),
        ..Default::default()
    }
}

/// A chain lookup.
fn ask_chain(blocks: &[(&str, i32)]) -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        prefix_hash: Bytes::new(),
        block_hashes: hashes(blocks),
        block_token_counts: blocks.iter().map(|(_, tokens)| *tokens).collect(),
        ..ask("")
    }
}

fn event(kind: wire::cache_event::Type, replica: &str, hash: &str) -> wire::CacheEvent {
    wire::CacheEvent {
        r#type: kind as i32,
        replica_id: replica.to_owned(),
        model_id: MODEL.to_owned(),
        tenant_id: TENANT.to_owned(),
        prefix_hash: Bytes::copy_from_slice(hash.as_bytes()),
        ..Default::default()
    }
}

/// The replicas of an answer that are there for what they hold; an affinity hint names one that holds nothing.
fn holders(answer: &wire::LookupRouteResponse) -> Vec<&str> {
    let names = answer.replica_scores.iter().map(|score| score.replica_id.as_str());
    if answer.reason_code == "PREFIX_MATCH" { names.collect() } else { Vec::new() }
}

/// The only replica of a prefix match.
#[track_caller]
fn only(answer: &wire::LookupRouteResponse) -> &wire::ReplicaScore {
    assert_eq!(answer.reason_code, "PREFIX_MATCH", "{answer:?}");
    assert_eq!(answer.replica_scores.len(), 1, "{answer:?}");
    &answer.replica_scores[0]
}

/// A floor of 0 lets a match of any length and score through.
fn no_floors() -> icache::lookup::RouterConfig {
    let policy = icache::policy::TenantPolicy {
        minimum_matched_tokens: Some(0),
        routing_floor_score: Some(0.0),
        ..Default::default()
    };
    icache::lookup::RouterConfig {
        policies: server_support::policies(&[(TENANT, policy)]),
        ..server_support::settings()
    }
}
