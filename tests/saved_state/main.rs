//! The index over a restart: saved at its end and every interval, loaded whole or not at all, never wrong and never
//! fatal.

#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stderr, reason = "a check that is left out says so")]

#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;

mod faults;
mod files;
mod kills;

use std::collections::BTreeMap;
use std::path::Path;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::index::Export;
use icache::lookup::{Router, RouterConfig};
use icache::model::Timestamp;
use icache::server::{Loaded, LoadedState, StateFolder};
use tonic::transport::Channel;

use self::process::Process;

/// A client of a server of its own process.
async fn connect(server: &Process) -> InferenceCacheClient<Channel> {
    InferenceCacheClient::connect(format!("http://{}", server.grpc_addr)).await.unwrap()
}

/// A report of these hashes, each with its tokens.
fn update(replica: &str, tenant: &str, entries: &[(String, i32)]) -> wire::CacheStateUpdate {
    let prefix = |(hash, tokens): &(String, i32)| wire::PrefixEntry {
        prefix_hash: hash.clone().into(),
        token_count: *tokens,
        ..Default::default()
    };
    wire::CacheStateUpdate {
        replica_id: replica.to_owned(),
        model_id: "llama".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefixes: entries.iter().map(prefix).collect(),
        ..Default::default()
    }
}

async fn report(client: &InferenceCacheClient<Channel>, update: wire::CacheStateUpdate) {
    client.clone().report_cache_state(tokio_stream::iter([update])).await.unwrap();
}

async fn lookup(
    client: &InferenceCacheClient<Channel>,
    tenant: &str,
    hash: &str,
) -> wire::LookupRouteResponse {
    let request = wire::LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: tenant.to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: hash.to_owned().into(),
        prefix_token_count: 512,
        ..Default::default()
    };
    client.clone().lookup_route(request).await.unwrap().into_inner()
}

/// The value of one series of a server's metrics.
async fn metric(server: &Process, series: &str) -> f64 {
    let page = server_support::http_get(server.http_addr, "/metrics").await.1;
    server_support::value_of(&page, series).unwrap_or_else(|| panic!("no `{series}` in\n{page}"))
}

/// A router under `config`, with what is saved in `folder`.
fn loaded(folder: &Path, config: RouterConfig, now: Timestamp) -> (Router, Loaded) {
    let router = Router::new(config);
    let loaded = StateFolder::new(folder).load(&router, now);
    (router, loaded)
}

/// What was loaded; fails where nothing was.
fn state(loaded: Loaded) -> LoadedState {
    match loaded {
        Loaded::State(state) => state,
        other => panic!("it is loaded: {other:?}"),
    }
}

/// (tenant, replica, hash) to tokens.
type Entries = BTreeMap<(String, String, String), i32>;

fn entries(export: &Export) -> Entries {
    let named = |entry: &icache::index::ExportedEntry| {
        let replica = &export.replicas[entry.replica as usize];
        let partition = &export.partitions[entry.partition as usize];
        assert_eq!((&replica.tenant, &replica.model), (&partition.tenant, &partition.model));
        let hash = String::from_utf8(entry.hash.as_bytes().to_vec()).unwrap();
        ((partition.tenant.to_string(), replica.replica.to_string(), hash), entry.tokens)
    };
    export.entries.iter().map(named).collect()
}
