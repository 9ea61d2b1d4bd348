//! The page that Prometheus scrapes.

use std::io::Write as _;
use std::process::Stdio;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::server::METRICS;

use crate::process::Process;
use crate::server_support::http_get;
use crate::tool;

/// A server that has been told something, asked something and asked for what it does not know.
async fn page(server: &Process) -> String {
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let entry = wire::PrefixEntry { prefix_hash: "p".into(), token_count: 16, ..Default::default() };
    let update = wire::CacheStateUpdate {
        replica_id: "r1".to_owned(),
        model_id: "a \"quoted\\\nname".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: vec![entry],
        ..Default::default()
    };
    client.report_cache_state(tokio_stream::iter([update.clone()])).await.unwrap();
    for model_id in [update.model_id, "unheard-of".to_owned()] {
        let request = wire::LookupRouteRequest {
            model_id,
            tenant_id: "team-a".to_owned(),
            hash_scheme: "vllm".to_owned(),
            prefix_hash: "p".into(),
            ..Default::default()
        };
        client.lookup_route(request).await.unwrap();
    }
    http_get(server.http_addr, "/metrics").await.1
}

#[tokio::test]
async fn promtool_finds_nothing_to_say_about_the_page() {
    let server = Process::start(&[]);
    let page = page(&server).await;
    // Nothing was evicted for a quota, and there is no certificate.
    let absent =
        ["inferencecache_tenant_evictions_total", "inferencecache_tls_certificate_expiry_timestamp_seconds"];
    for metric in METRICS.iter().filter(|metric| !absent.contains(&metric.name)) {
        assert!(
            page.contains(&format!("\n# HELP {} ", metric.name))
                || page.starts_with(&format!("# HELP {} ", metric.name)),
            "{} is on the page",
            metric.name
        );
    }
    let Some(mut promtool) = tool("promtool", "prometheus") else { return };
    let mut child = promtool
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}\n{page}", crate::printed(&output));
}

/// Asks `lookups` times who holds `prefix` of the tenant; each answer names a replica.
async fn ask(server: &Process, tenant: &str, prefix: &'static str, lookups: u32) {
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    for _ in 0..lookups {
        let request = wire::LookupRouteRequest {
            model_id: "m".to_owned(),
            tenant_id: tenant.to_owned(),
            hash_scheme: "vllm".to_owned(),
            prefix_hash: prefix.into(),
            ..Default::default()
        };
        let answer = client.lookup_route(request).await.unwrap().into_inner();
        assert!(!answer.replica_scores.is_empty(), "{answer:?}");
    }
}

async fn report(server: &Process, tenant: &str, replica: &str, prefix: &'static str) {
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let entry = wire::PrefixEntry { prefix_hash: prefix.into(), token_count: 512, ..Default::default() };
    let update = wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: "m".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: vec![entry],
        ..Default::default()
    };
    client.report_cache_state(tokio_stream::iter([update])).await.unwrap();
}

#[tokio::test]
async fn hints_are_counted_by_replica_and_their_concentration_is_seen() {
    let server = Process::start(&["--metrics-max-series", "1"]);
    report(&server, "a", "r1", "p").await;
    // Three more replicas of the model live and hold nothing.
    let mut client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    for replica in ["r2", "r3", "r4"] {
        let event = wire::CacheEvent {
            r#type: wire::cache_event::Type::ReplicaUpdated.into(),
            replica_id: replica.to_owned(),
            model_id: "m".to_owned(),
            tenant_id: "a".to_owned(),
            ..Default::default()
        };
        client.publish_event(event).await.unwrap();
    }
    ask(&server, "a", "p", 19).await;
    let page = http_get(server.http_addr, "/metrics").await.1;
    assert!(page.contains("\ninferencecache_hint_concentration 0\n"), "19 hints tell nothing: {page}");
    ask(&server, "a", "p", 1).await;
    let page = http_get(server.http_addr, "/metrics").await.1;
    assert!(page.contains("\ninferencecache_hint_concentration 4\n"), "one of four gets all: {page}");
    assert!(page.contains("\ninferencecache_hints_total{replica=\"r1\"} 20\n"), "{page}");
    // There is room for one name.
    report(&server, "b", "r2", "q").await;
    ask(&server, "b", "q", 20).await;
    let page = http_get(server.http_addr, "/metrics").await.1;
    assert!(page.contains("\ninferencecache_hints_total{replica=\"other\"} 20\n"), "{page}");
    assert!(page.contains("\ninferencecache_hint_concentration 2\n"), "{page}");
}
