//! A client that names ever new things cannot make the process or its metrics grow beyond their bounds, and cannot keep
//! others' entries out.

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use super::process::Process;
use super::server_support::{http_get, value_of};

const MIB: f64 = (1_u64 << 20) as f64;
const MAX_MEMORY: &str = "--max-memory=16MiB";
/// Bytes of the index, and what docs/operations.md says to reckon with beside it.
const INDEX: f64 = 16.0 * MIB;
const BESIDE: f64 = 128.0 * MIB;
const SERIES: usize = 20;
/// How many names of each kind: enough to be far over what fits. `ICACHE_FLOOD_NAMES=1000000` sends the million of
/// docs/operations.md.
const NAMES: u64 = 20_000;

/// What is new in each update.
#[derive(Clone, Copy, PartialEq, Debug)]
enum New {
    Models,
    Tenants,
    Replicas,
    Schemes,
    Adapters,
    All,
    /// Replicas that report statistics and hold nothing.
    Idle,
}

const KINDS: [New; 7] =
    [New::Models, New::Tenants, New::Replicas, New::Schemes, New::Adapters, New::All, New::Idle];

fn update(new: New, is_long: bool, number: u64) -> wire::CacheStateUpdate {
    let id = |kind: New, name: &str| {
        let is_new = new == kind || new == New::All || new == New::Idle && kind == New::Replicas;
        match (is_new, is_long) {
            (false, _) => name.to_owned(),
            (true, false) => format!("{name}-{number}"),
            // As long as an id may be.
            (true, true) => format!("{name}-{number:0>width$}", width = 511 - name.len()),
        }
    };
    let entry = wire::PrefixEntry {
        prefix_hash: number.to_le_bytes().to_vec().into(),
        token_count: 100,
        ..Default::default()
    };
    let version = if is_long { "v".repeat(512) } else { "v1".to_owned() };
    // A model has so many replicas at most.
    let model = if new == New::Idle { format!("model-{}", number / 500) } else { id(New::Models, "model") };
    wire::CacheStateUpdate {
        model_id: model,
        tenant_id: id(New::Tenants, "tenant"),
        replica_id: id(New::Replicas, "replica"),
        hash_scheme: id(New::Schemes, "scheme"),
        adapter_id: id(New::Adapters, "adapter"),
        prefixes: if new == New::Idle { Vec::new() } else { vec![entry] },
        stats: (new == New::Idle).then(|| wire::ReplicaStats {
            hit_rate: 0.5,
            client_version: version,
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A lookup under the names of an update.
fn ask(update: wire::CacheStateUpdate, hash: Vec<u8>) -> wire::LookupRouteRequest {
    let wire::CacheStateUpdate { model_id, tenant_id, hash_scheme, adapter_id, .. } = update;
    wire::LookupRouteRequest {
        model_id,
        tenant_id,
        hash_scheme,
        adapter_id,
        prefix_hash: hash.into(),
        ..Default::default()
    }
}

async fn flood(client: &InferenceCacheClient<Channel>, new: New, is_long: bool, names: u64) {
    let (sender, receiver) = mpsc::channel(64);
    let mut reporter = client.clone();
    let reporting =
        tokio::spawn(async move { reporter.report_cache_state(ReceiverStream::new(receiver)).await });
    for number in 0..names {
        sender.send(update(new, is_long, number)).await.unwrap();
        if number % 100 == 0 {
            let unheard = update(new, is_long, number + names);
            client.clone().lookup_route(ask(unheard, b"h".to_vec())).await.unwrap();
        }
    }
    drop(sender);
    assert!(reporting.await.unwrap().unwrap().into_inner().accepted);
}

/// An honest replica's report is taken and found, whatever came before it.
async fn report_and_ask(client: &InferenceCacheClient<Channel>, hash: &str) {
    let own = || wire::CacheStateUpdate {
        replica_id: "honest".to_owned(),
        tenant_id: "honest".to_owned(),
        prefixes: vec![wire::PrefixEntry {
            prefix_hash: hash.to_owned().into(),
            token_count: 100,
            ..Default::default()
        }],
        ..update(New::Models, false, 0)
    };
    client.clone().report_cache_state(tokio_stream::iter([own()])).await.unwrap();
    let answer = client.clone().lookup_route(ask(own(), hash.into())).await.unwrap().into_inner();
    assert_eq!(answer.reason_code, "PREFIX_MATCH", "{answer:?}");
    assert_eq!(answer.replica_scores[0].replica_id, "honest");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_names_stay_within_memory_and_metrics() {
    let names = std::env::var("ICACHE_FLOOD_NAMES").map_or(NAMES, |text| text.parse().expect("a number"));
    let series = format!("--metrics-max-series={SERIES}");
    for is_long in [false, true] {
        for new in KINDS {
            let what = format!("{names} {new:?}, long: {is_long}");
            let server = Process::start(&[
                MAX_MEMORY,
                "--max-replica-records=1000000",
                "--max-replicas=1000",
                &series,
            ]);
            let client = InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap();
            let page = async || http_get(server.http_addr, "/metrics").await.1;
            let value =
                |page: &str, series: &str| value_of(page, series).unwrap_or_else(|| panic!("no {series}"));
            flood(&client, new, is_long, names).await;
            // Of tenants with one entry each, whose goes is a matter of their ids: see "What is not protected".
            if !matches!(new, New::Tenants | New::All) {
                report_and_ask(&client, &what).await;
            }
            let page = page().await;
            let index = value(&page, "inferencecache_index_memory_bytes");
            let resident = value(&page, "process_resident_memory_bytes");
            assert!(index <= INDEX, "{what}: the index has {index} bytes");
            assert!(resident <= INDEX + BESIDE, "{what}: the process has {resident} bytes");
            let models =
                page.lines().filter(|line| line.starts_with("inferencecache_index_entries{")).count();
            assert!(models <= SERIES + 1, "{what}: {models} models");
            let calls =
                page.lines().filter(|line| line.starts_with("inferencecache_lookup_route_calls_total{"));
            assert!(calls.count() <= (SERIES + 1) * 8, "{what}");
        }
    }
}
