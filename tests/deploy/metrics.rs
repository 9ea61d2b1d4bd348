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
