//! What goes from the index by itself, as the metrics count it.

use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::index::IndexConfig;
use icache::lookup::RouterConfig;
use icache::model::Eviction;
use icache::policy::TenantPolicy;
use icache::server::ServerConfig;

use crate::server_support::{policies, serve, serve_with, settings, until};
use crate::*;

/// r1 holds `p` and `q`, both older than the default time to live.
fn outlived() -> wire::CacheStateUpdate {
    let timestamp_us = now_us() - 31 * MINUTE_US;
    wire::CacheStateUpdate { timestamp_us, ..update("r1", vec![exact("p"), exact("q")]) }
}

fn under(policy: TenantPolicy) -> RouterConfig {
    RouterConfig { policies: policies(&[(TENANT, policy)]), ..settings() }
}

#[tokio::test]
async fn the_sweep_runs_by_itself_and_is_counted() {
    for (eviction, algorithm) in [(Eviction::Lru, "lru"), (Eviction::Lfu, "lfu")] {
        let policy = TenantPolicy { eviction: Some(eviction), ..TenantPolicy::default() };
        let often = ServerConfig { sweep_interval: Duration::from_millis(1), ..ServerConfig::default() };
        let world = serve_with(under(policy), often).await;
        world.report(vec![outlived()]).await;
        let series =
            format!("inferencecache_index_evictions_total{{algorithm=\"{algorithm}\",reason=\"ttl\"}}");
        until(|| world.metric(&series), |swept| *swept == Some(2.0)).await;
        assert_eq!(world.router.index().entries(), 0);
    }
}

#[tokio::test]
async fn between_sweeps_what_has_outlived_its_time_is_there_and_does_not_match() {
    let world = serve(settings()).await;
    world.report(vec![outlived()]).await;
    assert_eq!(world.state(TENANT, MODEL).await.summary.unwrap().total_prefixes, 2);
    assert_eq!(
        world.lookup(ask("p")).await.reason_code,
        "AFFINITY_HINT",
        "its replica still serves the scheme"
    );
}

#[tokio::test]
async fn evictions_over_the_cap_are_counted_by_algorithm() {
    for (eviction, algorithm) in [(Eviction::Lru, "lru"), (Eviction::Lfu, "lfu")] {
        let policy = TenantPolicy { eviction: Some(eviction), ..TenantPolicy::default() };
        let index = IndexConfig { max_entries: 10, ..IndexConfig::default() };
        let world = serve(RouterConfig { index, ..under(policy) }).await;
        let hashes: Vec<String> = (0..13).map(|at| format!("hash-{at}")).collect();
        world.report(vec![update("r1", hashes.iter().map(|hash| exact(hash)).collect())]).await;
        let series =
            format!("inferencecache_index_evictions_total{{algorithm=\"{algorithm}\",reason=\"cap\"}}");
        assert_eq!(world.metric(&series).await, Some(3.0), "{algorithm}");
        assert_eq!(world.metric("inferencecache_index_replica_entries").await, Some(10.0), "{algorithm}");
    }
}

#[tokio::test]
async fn evictions_over_a_quota_are_counted_by_tenant() {
    let policy = TenantPolicy { max_index_entries: Some(2), ..TenantPolicy::default() };
    let world = serve(under(policy)).await;
    world.report(vec![update("r1", ["p", "q", "s"].map(exact).to_vec())]).await;
    let series = "inferencecache_tenant_evictions_total{reason=\"over_entries\",tenant_id=\"team-a\"}";
    assert_eq!(world.metric(series).await, Some(1.0));
    assert_eq!(world.state(TENANT, MODEL).await.summary.unwrap().total_prefixes, 2);
}
