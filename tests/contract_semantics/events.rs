//! PublishEvent, and its live feed.

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::{decode_event, decode_update};
use icache::lookup::RouterConfig;
use icache::model::{Sourced, Timestamp};
use wire::cache_event::Type;

use crate::server_support::{serve, settings};
use crate::*;

const ACK: wire::Ack = wire::Ack { accepted: true, reason_code: String::new() };

/// `p` of r1 under two schemes and two adapters each, as (scheme, adapter).
const PLACES: [(&str, &str); 4] = [("vllm", ""), ("vllm", "lora"), ("sglang", ""), ("sglang", "lora")];

fn in_place((scheme, adapter): (&str, &str), message: wire::CacheStateUpdate) -> wire::CacheStateUpdate {
    wire::CacheStateUpdate { hash_scheme: scheme.to_owned(), adapter_id: adapter.to_owned(), ..message }
}

async fn places_of(
    world: &server_support::World,
    hash: &str,
    replica: &str,
) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for (scheme, adapter) in PLACES {
        let request = wire::LookupRouteRequest {
            hash_scheme: scheme.to_owned(),
            adapter_id: adapter.to_owned(),
            ..ask(hash)
        };
        if holders(&world.lookup(request).await).contains(&replica) {
            found.push((scheme, adapter));
        }
    }
    found
}

#[tokio::test]
async fn an_eviction_removes_the_hash_in_every_scheme() {
    for (adapter, left) in
        [("", vec![]), ("lora", vec![("vllm", ""), ("sglang", "")]), ("nobody", PLACES.to_vec())]
    {
        let world = serve(no_floors()).await;
        for replica in ["r1", "r2"] {
            let both = || update(replica, vec![exact("p"), exact("q")]);
            world.report(PLACES.map(|place| in_place(place, both())).to_vec()).await;
        }
        let eviction =
            wire::CacheEvent { adapter_id: adapter.to_owned(), ..event(Type::PrefixEvicted, "r1", "p") };
        assert_eq!(world.publish(eviction).await, ACK);
        assert_eq!(places_of(&world, "p", "r1").await, left, "adapter `{adapter}`");
        assert_eq!(places_of(&world, "q", "r1").await, PLACES, "another hash stays");
        assert_eq!(places_of(&world, "p", "r2").await, PLACES, "another replica's stays");
    }
}

#[tokio::test]
async fn an_eviction_stays_within_its_tenant_and_model() {
    let world = serve(settings()).await;
    world.report(vec![update("r1", vec![exact("p")])]).await;
    for elsewhere in [
        wire::CacheEvent { tenant_id: "team-b".to_owned(), ..event(Type::PrefixEvicted, "r1", "p") },
        wire::CacheEvent { model_id: "qwen".to_owned(), ..event(Type::PrefixEvicted, "r1", "p") },
    ] {
        assert_eq!(world.publish(elsewhere).await, ACK);
    }
    assert_eq!(holders(&world.lookup(ask("p")).await), ["r1"]);
}

#[tokio::test]
async fn the_cost_of_an_eviction_does_not_depend_on_the_index() {
    let mut costs = Vec::new();
    for entries in [1_000, 10_000] {
        let world = serve(settings()).await;
        let names: Vec<String> = (0..entries).map(|at| format!("block-{at}")).collect();
        world.report(vec![update("r1", names.iter().map(|name| exact(name)).collect())]).await;
        let before = world.router.index().work();
        world.publish(event(Type::PrefixEvicted, "r1", "block-500")).await;
        assert_eq!(world.router.index().entries(), entries - 1);
        costs.push(world.router.index().work() - before);
    }
    assert_eq!(costs[0], costs[1]);
}

#[tokio::test]
async fn clearing_removes_every_entry_of_the_replica_and_its_statistics() {
    let world = serve(no_floors()).await;
    let stats = Some(wire::ReplicaStats { hit_rate: 0.5, ..Default::default() });
    for replica in ["r1", "r2"] {
        let all = || wire::CacheStateUpdate {
            stats: stats.clone(),
            ..update(replica, vec![exact("p"), exact("q")])
        };
        world.report(PLACES.map(|place| in_place(place, all())).to_vec()).await;
        world.report(vec![wire::CacheStateUpdate { model_id: "qwen".to_owned(), ..all() }]).await;
    }
    assert_eq!(world.publish(event(Type::AllCleared, "r1", "")).await, ACK);
    assert_eq!(places_of(&world, "p", "r1").await, []);
    assert_eq!(places_of(&world, "q", "r1").await, []);
    assert_eq!(places_of(&world, "p", "r2").await, PLACES);
    let names = |state: wire::GetCacheStateResponse| -> Vec<String> {
        state.replicas.into_iter().map(|stats| stats.replica_id).collect()
    };
    assert_eq!(names(world.state(TENANT, MODEL).await), ["r2"]);
    assert_eq!(names(world.state(TENANT, "qwen").await), ["r1", "r2"], "another model's state stays");
}

/// A server on which r1 reported `p` and warm statistics an hour ago, by the server's clock.
async fn silent_for_an_hour() -> server_support::World {
    let mut settings = settings();
    settings.ranker.replica_timeout_ns = Sourced::built_in(60_000_000_000);
    let policy = icache::policy::TenantPolicy {
        ttl_ns: Some(24 * 3_600_000_000_000),
        affinity_routing: Some(false),
        ..Default::default()
    };
    let world =
        serve(RouterConfig { policies: server_support::policies(&[(TENANT, policy)]), ..settings }).await;
    let stats = wire::ReplicaStats { hit_rate: 0.9, ..Default::default() };
    let message = wire::CacheStateUpdate { stats: Some(stats), ..update("r1", vec![exact("p")]) };
    let an_hour_ago = Timestamp::now().plus_ns(-3_600_000_000_000);
    world.router.index().apply_update(&decode_update(&message), an_hour_ago);
    world
}

#[tokio::test]
async fn a_sign_of_life_renews_liveness_and_not_the_age_of_statistics() {
    let world = silent_for_an_hour().await;
    let silent = format!("inferencecache_index_silent_replicas{{model=\"{MODEL}\"}}");
    assert_eq!(world.lookup(ask("p")).await.reason_code, "NO_HINT", "silent for longer than the timeout");
    assert_eq!(world.metric(&silent).await, Some(1.0));
    assert_eq!(world.publish(event(Type::ReplicaUpdated, "r1", "")).await, ACK);
    assert_eq!(holders(&world.lookup(ask("p")).await), ["r1"]);
    assert_eq!(world.metric(&silent).await, Some(0.0));
    assert_eq!(
        world.lookup(ask("novel")).await.reason_code,
        "NO_HINT",
        "statistics of an hour ago are not warm"
    );
}

#[tokio::test]
async fn prefix_added_and_unknown_types_change_nothing() {
    for kind in [Type::PrefixAdded as i32, Type::Unspecified as i32, 5, 99, -1] {
        let world = silent_for_an_hour().await;
        let added = wire::CacheEvent { r#type: kind, ..event(Type::PrefixAdded, "r1", "added") };
        assert_eq!(world.publish(added).await, ACK, "type {kind}");
        assert_eq!(world.router.index().entries(), 1, "type {kind}");
        assert_eq!(world.lookup(ask("p")).await.reason_code, "NO_HINT", "type {kind} is no sign of life");
    }
}

#[tokio::test]
async fn events_are_counted_by_type() {
    let world = serve(settings()).await;
    for (kind, label, times) in [
        (Type::PrefixAdded as i32, "prefix_added", 1),
        (Type::PrefixEvicted as i32, "prefix_evicted", 2),
        (Type::ReplicaUpdated as i32, "replica_updated", 3),
        (Type::AllCleared as i32, "all_cleared", 4),
        (99, "unknown", 5),
    ] {
        for _ in 0..times {
            world.publish(wire::CacheEvent { r#type: kind, ..event(Type::PrefixAdded, "r1", "p") }).await;
        }
        let series = format!("inferencecache_events_total{{type=\"{label}\"}}");
        assert_eq!(world.metric(&series).await, Some(f64::from(times)), "{label}");
    }
}

#[tokio::test]
async fn malformed_events_are_acked_dropped_and_counted() {
    let long = || "n".repeat(513);
    let base = || event(Type::ReplicaUpdated, "r1", "");
    for (cause, bad) in [
        ("missing_key", wire::CacheEvent { replica_id: String::new(), ..base() }),
        ("long_id", wire::CacheEvent { tenant_id: long(), ..base() }),
        ("long_id", wire::CacheEvent { adapter_id: long(), ..base() }),
        ("long_hash", wire::CacheEvent { prefix_hash: vec![0; 65].into(), ..base() }),
    ] {
        let world = serve(settings()).await;
        assert_eq!(world.publish(bad).await, ACK, "{cause}");
        let series = format!("inferencecache_ingest_dropped_total{{cause=\"{cause}\"}}");
        assert_eq!(world.metric(&series).await, Some(1.0), "{cause}");
    }
}

#[tokio::test]
async fn observers_get_the_events_they_ask_for() {
    let world = serve(settings()).await;
    let wanted = wire::StreamEventsRequest {
        tenant_id: TENANT.to_owned(),
        types: vec![Type::PrefixEvicted as i32],
        ..Default::default()
    };
    let mut feed = world.client.clone().stream_cache_events(wanted).await.unwrap().into_inner();
    let seen = event(Type::PrefixEvicted, "r1", "p");
    for event in [
        event(Type::AllCleared, "r1", ""),
        wire::CacheEvent { tenant_id: "team-b".to_owned(), ..seen.clone() },
        wire::CacheEvent { replica_id: String::new(), ..seen.clone() },
        seen.clone(),
    ] {
        world.publish(event).await;
    }
    let first = feed.message().await.unwrap();
    assert_eq!(first.as_ref(), Some(&seen));
    assert_eq!(decode_event(&seen).prefix_hash, b"p");
    assert!(world.running.stop().await, "an observer does not hold up the stop");
    assert_eq!(feed.message().await.unwrap(), None, "the feed ends cleanly");
}
