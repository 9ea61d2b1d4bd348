//! Any bytes as the message of each RPC: what decodes is applied or answered as the server would, and nothing panics.
#![no_main]

use std::sync::LazyLock;

use icache::contract::wire::icache::v1alpha1 as own;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::{
    decode_event, decode_fast_request, decode_request, decode_update, encode_state,
};
use icache::index::IndexConfig;
use icache::lookup::{Call, Router, RouterConfig};
use icache::model::{LookupRequest, Sourced, Timestamp};
use icache::policy::{Defaults, PolicySet, default_ranker};
use libfuzzer_sys::fuzz_target;
use prost::Message;

/// Small bounds, so that they are met.
static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    Router::new(RouterConfig {
        index: IndexConfig { max_entries: 1_000, max_replica_records: 100, ..IndexConfig::default() },
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    })
});

fn judge(request: &LookupRequest<'_>, now: Timestamp) {
    let routed = ROUTER.route(request, Call::at(now));
    assert!(!routed.reason.code().is_empty());
    let explained = ROUTER.explain(request, Call::at(now));
    assert!(!explained.decision.steps.is_empty());
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let now = Timestamp::from_ns(1_700_000_000_000_000_000);
    let index = ROUTER.index();
    match kind % 8 {
        0 => {
            let Ok(message) = wire::LookupRouteRequest::decode(bytes) else { return };
            judge(&decode_request(&message), now);
        }
        1 => {
            let Ok(message) = wire::CacheStateUpdate::decode(bytes) else { return };
            index.apply_update(&decode_update(&message), now);
            assert!(index.entries() <= 1_000);
        }
        2 => {
            let Ok(message) = wire::CacheEvent::decode(bytes) else { return };
            index.apply_event(&decode_event(&message), now);
        }
        3 => {
            let Ok(message) = wire::GetCacheStateRequest::decode(bytes) else { return };
            let state = encode_state(index.cache_state(&message.tenant_id, &message.model_id));
            assert!(wire::GetCacheStateResponse::decode(&state.encode_to_vec()[..]).is_ok());
        }
        4 => {
            let Ok(message) = own::FastLookupRequest::decode(bytes) else { return };
            let mut counts = Vec::new();
            judge(&decode_fast_request(&message, &mut counts, ROUTER.limits().request_blocks), now);
        }
        5 => drop(wire::StreamEventsRequest::decode(bytes)),
        6 => drop(wire::StreamMetricsRequest::decode(bytes)),
        _ => drop(own::ObserveRequest::decode(bytes)),
    }
});
