//! From records of the feed to those of a capture.

use crate::capture::{Body, Config, ConfigLimits, ConfigRanker, Lookup, State};
use crate::contract::wire::icache::v1alpha1 as wire;
use crate::contract::wire::icache::v1alpha1::record::Body as Observed;
use crate::model::{Ranker, format_duration};

/// What a capture keeps of it; `None` for what is of the feed alone.
pub(super) fn body(observed: Observed) -> Option<Body> {
    Some(match observed {
        Observed::Config(config) => Body::Config(settings(&config)),
        Observed::Policy(documents) => Body::Policy(documents),
        Observed::State(part) => Body::State(state(part)),
        Observed::Report(update) => Body::Report(update),
        Observed::Event(event) => Body::Event(event),
        Observed::Lookup(lookup) => Body::Lookup(Box::new(Lookup {
            request: lookup.request.unwrap_or_default(),
            answer: lookup.answer,
            expect: None,
        })),
        Observed::Sweep(_) => Body::Sweep,
        Observed::Missed(_) | Observed::Cut(_) => return None,
    })
}

/// Settings of the reference ranker are what captures always had; a server that names no ranker has that one.
fn is_balanced(ranker: &str) -> bool {
    Ranker::parse(ranker) == Some(Ranker::Balanced)
}

fn settings(config: &wire::ServerConfig) -> Config {
    let span = |ns: i64| Some(format_duration(ns));
    let count = |count: u64| usize::try_from(count).ok();
    Config {
        ranker: ConfigRanker {
            pressure_weight: Some(config.pressure_weight),
            slo_tight_ttft_ms: Some(config.slo_tight_ttft_ms),
            slo_tight_bias: Some(config.slo_tight_bias),
            tenant_hot_max_age: span(config.tenant_hot_max_age_ns),
            tenant_hot_min_hit_rate: Some(config.tenant_hot_min_hit_rate),
            replica_timeout: span(config.replica_timeout_ns),
            ranker: Some(config.ranker.clone()).filter(|ranker| is_balanced(ranker)),
            in_flight_ttl: span(config.in_flight_ttl_ns).filter(|_| is_balanced(&config.ranker)),
            prefill_rate: Some(config.prefill_rate).filter(|_| is_balanced(&config.ranker)),
            load_hint_code: Some(config.load_hint_code.clone()).filter(|_| is_balanced(&config.ranker)),
            ..ConfigRanker::default()
        },
        block_size: Some(config.block_size),
        default_ttl: span(config.default_ttl_ns),
        limits: ConfigLimits {
            max_entries: Some(config.max_entries),
            max_memory_bytes: Some(config.max_memory_bytes).filter(|bytes| *bytes != u64::MAX),
            max_replicas: count(config.max_replicas),
            max_replica_records: count(config.max_replica_records),
            max_blocks: count(config.max_blocks),
            max_hash_bytes: count(config.max_hash_bytes),
            max_id_bytes: count(config.max_id_bytes),
            max_tokens: count(config.max_tokens),
            max_prompt_bytes: count(config.max_prompt_bytes),
            ..ConfigLimits::default()
        },
        records_sweeps: true,
        ..Config::default()
    }
}

fn state(part: wire::StatePart) -> State {
    State {
        updates: part.updates,
        heard_us: part.heard_us,
        credits: part.credits.into_iter().map(|credits| credits.hits).collect(),
        keys: part.keys,
        ..State::default()
    }
}
