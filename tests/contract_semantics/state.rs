//! GetCacheState, and the reserved tenant.

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::model::{PROBE_TENANT, Timestamp};
use wire::cache_event::Type;

use crate::server_support::{serve, settings};
use crate::*;

fn of(tenant: &str, model: &str, message: wire::CacheStateUpdate) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate { tenant_id: tenant.to_owned(), model_id: model.to_owned(), ..message }
}

#[tokio::test]
async fn state_is_of_the_tenant_and_model_asked_for() {
    let world = serve(settings()).await;
    let stats = |hit_rate| Some(wire::ReplicaStats { hit_rate, ..Default::default() });
    for (tenant, model, replica, hashes) in [
        ("team-a", "llama", "r2", &["p", "q"][..]),
        ("team-a", "llama", "r1", &["p"]),
        ("team-a", "qwen", "r3", &["p"]),
        ("team-b", "llama", "r4", &["p"]),
    ] {
        let held = hashes.iter().map(|hash| exact(hash)).collect();
        let message = wire::CacheStateUpdate { stats: stats(0.5), ..update(replica, held) };
        world.report(vec![of(tenant, model, message)]).await;
    }
    world.report(vec![update("r-silent", vec![exact("p")])]).await;
    for (tenant, model, replicas, total) in [
        ("team-a", "llama", &["r1", "r2"][..], 2),
        ("team-a", "qwen", &["r3"], 1),
        ("team-b", "llama", &["r4"], 1),
        ("team-a", "", &["r1", "r2", "r3"], 3),
        ("", "", &["r1", "r2", "r3", "r4"], 4),
        ("team-c", "llama", &[], 0),
    ] {
        let state = world.state(tenant, model).await;
        let names: Vec<&str> = state.replicas.iter().map(|stats| stats.replica_id.as_str()).collect();
        assert_eq!(names, replicas, "{tenant}/{model}");
        assert_eq!(state.summary.unwrap().total_prefixes, total, "{tenant}/{model}");
    }
}

#[tokio::test]
async fn a_prefix_is_hot_from_a_delivered_hit_until_the_sweep_after_next() {
    let world = serve(settings()).await;
    let hot = async || world.state(TENANT, MODEL).await.summary.unwrap().hot_prefixes;
    world.report(vec![update("r1", vec![exact("p"), exact("q")])]).await;
    assert_eq!(hot().await, 0);
    world.explain.clone().explain_route(ask("p")).await.unwrap();
    assert_eq!(hot().await, 0, "explaining is no hit");
    world.lookup(ask("novel")).await;
    assert_eq!(hot().await, 0, "an affinity hint is no hit");
    world.lookup(ask("p")).await;
    assert_eq!(hot().await, 1);
    world.router.index().sweep(Timestamp::now());
    assert_eq!(hot().await, 1);
    world.router.index().sweep(Timestamp::now());
    assert_eq!(hot().await, 0);
}

#[tokio::test]
async fn the_reserved_tenant_leaves_no_trace() {
    let world = serve(settings()).await;
    let stats = Some(wire::ReplicaStats { hit_rate: 0.5, ..Default::default() });
    let probe = of(PROBE_TENANT, "probe-model", update("r1", vec![exact("p")]));
    assert!(world.report(vec![wire::CacheStateUpdate { stats, ..probe }]).await.accepted);
    world.report(vec![of(TENANT, "probe-model", update("r1", vec![exact("q")]))]).await;
    for kind in [Type::PrefixEvicted, Type::AllCleared, Type::ReplicaUpdated] {
        let probe = wire::CacheEvent {
            tenant_id: PROBE_TENANT.to_owned(),
            model_id: "probe-model".to_owned(),
            ..event(kind, "r1", "p")
        };
        assert!(world.publish(probe).await.accepted);
    }
    let request = wire::LookupRouteRequest {
        tenant_id: PROBE_TENANT.to_owned(),
        model_id: "probe-model".to_owned(),
        ..ask("p")
    };
    let answer = world.lookup(request).await;
    assert_eq!((answer.reason_code.as_str(), answer.replica_scores.len()), ("NO_HINT", 0));
    let state = world.state(PROBE_TENANT, "").await;
    assert_eq!((state.replicas.len(), state.summary), (0, Some(wire::CacheSummary::default())));
    assert_eq!(world.state("", "").await.summary.unwrap().total_prefixes, 1);
    assert_eq!(world.metric("inferencecache_index_entries{model=\"probe-model\"}").await, Some(1.0));
    assert_eq!(world.metric("inferencecache_index_replica_entries").await, Some(1.0));
    let dropped = world.metric("inferencecache_ingest_dropped_total{cause=\"reserved_tenant\"}").await;
    assert_eq!(dropped, Some(4.0));
}
