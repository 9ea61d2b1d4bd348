//! The real binary as a sidecar, and what a gateway then hears of the server.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::hash::fingerprint_chain;
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tonic::transport::{Channel, Endpoint};

use crate::engine::{SIZE, tokens};
use crate::support::{http_get, value_of};

/// After whatever is done to engine, server or wires, lookups are right again within 20 s; a machine that builds beside
/// the test is given three times that.
pub const HEALED: Duration = Duration::from_secs(60);

/// A running `icache subscribe`; killed when dropped.
pub struct Sidecar {
    child: Child,
    pub http_addr: SocketAddr,
    log: Arc<Mutex<Vec<Value>>>,
}

impl Sidecar {
    pub fn start(engine: u16, replay: u16, server: SocketAddr, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_icache"))
            .args(["subscribe", "--replica=r", "--tenant=t", "--model=m", "--http-addr=127.0.0.1:0"])
            .arg(format!("--engine=tcp://127.0.0.1:{engine}"))
            .arg(format!("--replay=tcp://127.0.0.1:{replay}"))
            .arg(format!("--server=http://{server}"))
            .arg("--log-format=json")
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let first = lines.next().expect("it says what it does").expect("the log is text");
        let first: Value =
            serde_json::from_str(&first).unwrap_or_else(|_| panic!("no line of JSON: {first}"));
        assert_eq!(first["message"], "following");
        let http_addr = first["http_addr"].as_str().and_then(|addr| addr.parse().ok()).expect("an address");
        let log = Arc::new(Mutex::new(vec![first]));
        let seen = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                seen.lock().expect("no reader panics").push(line);
            }
        });
        Self { child, http_addr, log }
    }

    pub fn log(&self) -> Vec<Value> {
        self.log.lock().expect("no reader panics").clone()
    }

    pub async fn metric(&self, series: &str) -> Option<f64> {
        let page = http_get(self.http_addr, "/metrics").await.1;
        value_of(&page, &format!("icache_subscribe_{series}"))
    }

    /// Waits for a value of one of its metrics.
    pub async fn until_metric(&self, series: &str, value: f64) {
        until(&format!("{series} {value}"), async || self.metric(series).await == Some(value)).await;
    }

    pub async fn dropped(&self, cause: &str) -> f64 {
        self.metric(&format!("dropped_total{{cause=\"{cause}\"}}")).await.expect("every cause is shown")
    }

    pub fn stop(mut self, signal: &str) -> ExitStatus {
        let command = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().expect("sh runs").success());
        self.child.wait().expect("the child is ours")
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        // It has ended already where the test stopped it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again until it is so; fails loudly where it is not in time.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_met: impl FnMut() -> F) {
    let end = Instant::now() + HEALED;
    while !is_met().await {
        assert!(Instant::now() < end, "not within {HEALED:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub struct Gateway(InferenceCacheClient<Channel>);

impl Gateway {
    pub fn of(server: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{server}")).expect("an address makes a URI");
        Self(InferenceCacheClient::new(endpoint.connect_lazy()))
    }

    /// Blocks that each replica is said to hold of a prompt; a server that is away knows of none.
    pub async fn blocks(&self, prompt: u32) -> BTreeMap<String, usize> {
        let chain = fingerprint_chain(&tokens(prompt, 0..8), SIZE as u32, None);
        let request = wire::LookupRouteRequest {
            model_id: "m".to_owned(),
            tenant_id: "t".to_owned(),
            hash_scheme: "vllm".to_owned(),
            block_token_counts: vec![SIZE as i32; chain.len()],
            block_hashes: chain.iter().map(|hash| hash.as_bytes().to_vec().into()).collect(),
            ..wire::LookupRouteRequest::default()
        };
        let mut client = self.0.clone();
        let Ok(Ok(answer)) = timeout(Duration::from_secs(5), client.lookup_route(request)).await else {
            return BTreeMap::new();
        };
        let scores = answer.into_inner().replica_scores.into_iter();
        scores.map(|score| (score.replica_id, score.matched_tokens as usize / SIZE)).collect()
    }

    /// Waits until lookups say of each prompt how many of its blocks the only replica holds.
    pub async fn until_held(&self, expected: &[(u32, usize)]) {
        until(&format!("held: {expected:?}"), async || {
            for (prompt, blocks) in expected {
                let held = self.blocks(*prompt).await;
                if held.get("r").copied().unwrap_or_default() != *blocks || held.len() > 1 {
                    return false;
                }
            }
            true
        })
        .await;
    }

    pub async fn stats(&self) -> Vec<wire::ReplicaStats> {
        let request = wire::GetCacheStateRequest { model_id: "m".to_owned(), tenant_id: "t".to_owned() };
        let mut client = self.0.clone();
        client.get_cache_state(request).await.map(|answer| answer.into_inner().replicas).unwrap_or_default()
    }
}
