//! A client that names ever new things cannot make the process or its metrics grow beyond their bounds.

use std::time::{Duration, Instant};

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::process::Process;
use super::server_support::{http_get, value_of};

/// Bytes of the index.
const MAX_MEMORY: f64 = (64_u64 << 20) as f64;
/// What docs/operations.md says to reckon with beside the index.
const BESIDE: f64 = (128_u64 << 20) as f64;
/// How long each kind of name is sent; nothing is judged by it.
const FLOOD: Duration = Duration::from_secs(2);
const SERIES: usize = 20;

/// An id as long as one may be.
fn long(kind: &str, number: u64) -> String {
    let id = format!("{kind}-{number}-");
    let rest = "x".repeat(512 - id.len());
    id + &rest
}

fn update(kind: usize, number: u64) -> wire::CacheStateUpdate {
    let id =
        |at: usize, name: &str| if kind == at || kind == 5 { long(name, number) } else { name.to_owned() };
    wire::CacheStateUpdate {
        model_id: id(0, "model"),
        tenant_id: id(1, "tenant"),
        replica_id: id(2, "replica"),
        hash_scheme: id(3, "scheme"),
        adapter_id: id(4, "adapter"),
        prefixes: vec![wire::PrefixEntry {
            prefix_hash: number.to_le_bytes().to_vec().into(),
            token_count: 16,
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_names_stay_within_memory_and_metrics() {
    let series = format!("--metrics-max-series={SERIES}");
    let server = Process::start(&["--max-memory=64MiB", "--max-replica-records=8192", &series]);
    let client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
    let kinds = ["models", "tenants", "replicas", "schemes", "adapters", "all of them"];
    for (kind, name) in kinds.iter().enumerate() {
        let (sender, receiver) = mpsc::channel(64);
        let mut reporter = client.clone();
        let reporting =
            tokio::spawn(async move { reporter.report_cache_state(ReceiverStream::new(receiver)).await });
        let begun = Instant::now();
        let mut number = 0;
        while begun.elapsed() < FLOOD {
            sender.send(update(kind, number)).await.unwrap();
            if number % 50 == 0 {
                let wire::CacheStateUpdate { model_id, tenant_id, hash_scheme, adapter_id, .. } =
                    update(kind, number + 1_000_000);
                let request = wire::LookupRouteRequest {
                    model_id,
                    tenant_id,
                    hash_scheme,
                    adapter_id,
                    prefix_hash: "h".into(),
                    ..Default::default()
                };
                client.clone().lookup_route(request).await.unwrap();
            }
            number += 1;
        }
        drop(sender);
        assert!(reporting.await.unwrap().unwrap().into_inner().accepted);
        let page = http_get(server.http_addr, "/metrics").await.1;
        let value = |series: &str| value_of(&page, series).unwrap_or_else(|| panic!("no {series}"));
        let index = value("inferencecache_index_memory_bytes");
        let resident = value("process_resident_memory_bytes");
        assert!(index <= MAX_MEMORY, "{name}: {number} sent, the index has {index} bytes");
        assert!(resident <= MAX_MEMORY + BESIDE, "{name}: {number} sent, the process has {resident} bytes");
        assert!(value("inferencecache_index_replica_entries") > 0.0, "{name}: names leave room for entries");
        let models = page.lines().filter(|line| line.starts_with("inferencecache_index_entries{")).count();
        assert!(models <= SERIES + 1, "{name}: {models} models");
        let calls = page.lines().filter(|line| line.starts_with("inferencecache_lookup_route_calls_total{"));
        assert!(calls.count() <= (SERIES + 1) * 8, "{name}");
    }
}
