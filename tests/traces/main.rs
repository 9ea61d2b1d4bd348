//! Spans of calls: what a real collector is sent, and what becomes of calls where there is none.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod collector;
mod faults;
mod spans;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use process::Process;
use tonic::transport::Channel;

async fn connect(server: &Process) -> Channel {
    Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap().connect().await.unwrap()
}

/// r1 of `team-a` holds `secret-hash`, of 100 tokens.
async fn report(channel: &Channel) {
    let update = wire::CacheStateUpdate {
        replica_id: "r1".to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: vec![wire::PrefixEntry {
            prefix_hash: "secret-hash".into(),
            token_count: 100,
            ..Default::default()
        }],
        ..Default::default()
    };
    let mut client = InferenceCacheClient::new(channel.clone());
    client.report_cache_state(tokio_stream::iter([update])).await.unwrap();
}

fn ask() -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: "secret-hash".into(),
        ..Default::default()
    }
}

/// The value of one series of a server's metrics.
async fn metric(server: &Process, series: &str) -> f64 {
    let page = server_support::http_get(server.http_addr, "/metrics").await.1;
    server_support::value_of(&page, series).unwrap_or_else(|| panic!("no `{series}` in\n{page}"))
}

const SENT: &str = "inferencecache_trace_spans_sent_total";
const NOT_SENT: &str = "inferencecache_trace_spans_dropped_total{cause=\"not_sent\"}";
const QUEUE_FULL: &str = "inferencecache_trace_spans_dropped_total{cause=\"queue_full\"}";
