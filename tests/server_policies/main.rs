//! Policies of the real binary: files that change under it, pushes, and lookups meanwhile.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "../server_support/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../server_support/mod.rs"]
#[allow(dead_code)]
mod server_support;

mod effects;
mod files;
mod flips;
mod push;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use icache::contract::wire::icache::v1alpha1::explain_client::ExplainClient;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use process::Process;
use server_support::http_get;
use tonic::transport::Channel;

/// What a change of files may take.
const LIMIT: Duration = Duration::from_secs(2);

const MATCH: &str = "PREFIX_MATCH";
const HIDDEN: &str = "NO_HINT";

/// A policy of the tenant `team-a`.
fn policy(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: {name}, namespace: team-a}}\n\
         spec: {{{spec}}}\n"
    )
}

/// A quota of the tenant `team-a`.
fn quota(keys: u32) -> String {
    format!(
        "---\napiVersion: inferencecache.io/v1alpha1\nkind: CacheTenant\nmetadata: {{name: t, namespace: ops}}\n\
         spec: {{tenantID: team-a, quota: {{maxIndexEntries: {keys}}}}}\n"
    )
}

/// Lets the match of 100 tokens through.
fn showing() -> String {
    policy("shows", "minimumMatchedTokens: 100, affinityRouting: Disabled")
}

/// Hides it.
fn hiding() -> String {
    policy("hides", "minimumMatchedTokens: 101, affinityRouting: Disabled")
}

/// Written aside and renamed, as editors do.
fn replace(path: &Path, text: &str) {
    let aside = path.with_extension("tmp");
    fs::write(&aside, text).unwrap();
    fs::rename(&aside, path).unwrap();
}

/// A server with clients.
struct Served {
    server: Process,
    client: InferenceCacheClient<Channel>,
    explain: ExplainClient<Channel>,
}

impl Served {
    async fn start(flags: &[&str]) -> Self {
        let server = Process::start(flags);
        let channel = Channel::from_shared(format!("http://{}", server.grpc_addr)).unwrap();
        let channel = channel.connect().await.unwrap();
        Self {
            server,
            client: InferenceCacheClient::new(channel.clone()),
            explain: ExplainClient::new(channel),
        }
    }

    /// A server under the policies at `path`; r1 holds `p`, of 100 tokens.
    async fn under(path: &Path) -> Self {
        let served = Self::start(&["--policy", path.to_str().unwrap()]).await;
        served.report("p", Duration::ZERO).await;
        served
    }

    /// r1 holds 100 tokens under `hash`, last seen `age` ago.
    async fn report(&self, hash: &str, age: Duration) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let entry = wire::PrefixEntry {
            prefix_hash: Bytes::copy_from_slice(hash.as_bytes()),
            token_count: 100,
            ..Default::default()
        };
        let update = wire::CacheStateUpdate {
            replica_id: "r1".to_owned(),
            model_id: "llama".to_owned(),
            tenant_id: "team-a".to_owned(),
            hash_scheme: "vllm".to_owned(),
            timestamp_us: i64::try_from((now - age).as_micros()).unwrap(),
            prefixes: vec![entry],
            ..Default::default()
        };
        self.client.clone().report_cache_state(tokio_stream::iter([update])).await.unwrap();
    }

    /// The reason code of a lookup.
    async fn reason(&self, hash: &str) -> String {
        self.client.clone().lookup_route(ask(hash)).await.unwrap().into_inner().reason_code
    }

    /// The next lookup for `p` that answers `reason` comes in time after a change; until then all answer as before.
    async fn turns(&self, before: &str, reason: &str) {
        let changed = Instant::now();
        loop {
            let answer = self.reason("p").await;
            if answer == reason {
                return;
            }
            assert_eq!(answer, before);
            assert!(changed.elapsed() < LIMIT, "it is still {answer} after {LIMIT:?}");
        }
    }

    async fn metric(&self, name: &str) -> Option<f64> {
        let page = http_get(self.server.http_addr, "/metrics").await.1;
        server_support::value_of(&page, &format!("inferencecache_{name}"))
    }

    /// A reload is told to have ended so in time.
    async fn reloads(&self, succeeded: bool) {
        let changed = Instant::now();
        let value = if succeeded { 1.0 } else { 0.0 };
        while self.metric("policy_reload_success").await != Some(value) {
            assert!(changed.elapsed() < LIMIT, "reload_success is not {value} after {LIMIT:?}");
        }
    }

    /// What GET /policy says.
    async fn shown(&self) -> serde_json::Value {
        let (status, page) = http_get(self.server.admin_addr, "/policy").await;
        assert_eq!(status, 200, "{page}");
        serde_json::from_str(&page).unwrap()
    }

    /// Value and source of a knob of `team-a`, as GET /policy says.
    async fn knob(&self, name: &str) -> (serde_json::Value, String) {
        let shown = self.shown().await;
        let namespaces = shown["namespaces"].as_array().unwrap();
        let policy =
            namespaces.iter().find(|policy| policy["namespace"] == "team-a").unwrap_or(&shown["default"]);
        let knob = policy["knobs"].as_array().unwrap().iter().find(|knob| knob["name"] == name).unwrap();
        (knob["value"].clone(), knob["source"].as_str().unwrap().to_owned())
    }

    /// Pushes, which is in force when it is answered.
    async fn push(&self, body: &str) {
        let (status, _, text) = send(self.server.admin_addr, "PUT", "/policy", body.as_bytes()).await;
        assert_eq!((status, text.as_str()), (204, ""), "{body}");
    }
}

fn ask(hash: &str) -> wire::LookupRouteRequest {
    wire::LookupRouteRequest {
        model_id: "llama".to_owned(),
        tenant_id: "team-a".to_owned(),
        hash_scheme: "vllm".to_owned(),
        prefix_hash: Bytes::copy_from_slice(hash.as_bytes()),
        ..Default::default()
    }
}

/// Status, head and body of an HTTP request.
async fn send(addr: SocketAddr, method: &str, path: &str, body: &[u8]) -> (u16, String, String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

const PUSH_OF_TEAM_A: &str = r#"{"version": 7, "policies": [{"namespace": "team-a", FIELDS}]}"#;

/// A push of one policy of `team-a`.
fn pushed(fields: &str) -> String {
    PUSH_OF_TEAM_A.replace("FIELDS", fields)
}
