//! An in-process server on free loopback ports, and a client of the generated code.

use std::sync::Arc;
use std::time::Duration;

use icache::contract::wire::icache::v1alpha1::explain_client::ExplainClient;
use icache::contract::wire::inferencecache::v1alpha1 as wire;
use icache::contract::wire::inferencecache::v1alpha1::inference_cache_client::InferenceCacheClient;
use icache::index::IndexConfig;
use icache::lookup::{Router, RouterConfig};
use icache::model::{Sourced, TenantId};
use icache::policy::{Defaults, PolicySet, TenantPolicy, default_ranker, resolve};
use icache::server::{Running, ServerConfig, start};
use tonic::transport::Channel;

/// A running server with its parts.
pub struct World {
    pub router: Arc<Router>,
    pub running: Running,
    pub client: InferenceCacheClient<Channel>,
    pub explain: ExplainClient<Channel>,
}

/// Settings of a router that was told nothing.
pub fn settings() -> RouterConfig {
    RouterConfig {
        index: IndexConfig::default(),
        policies: PolicySet::empty(&Defaults::default()),
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(4_096),
    }
}

/// Policies of some tenants; the others have none.
pub fn policies(written: &[(&str, TenantPolicy)]) -> PolicySet {
    let defaults = Defaults::default();
    let mut set = PolicySet::empty(&defaults);
    for (tenant, policy) in written {
        set.insert(TenantId::from(*tenant), resolve(policy, &Arc::from("CachePolicy test"), &defaults));
    }
    set
}

/// A server on free ports.
pub async fn serve(settings: RouterConfig) -> World {
    serve_with(settings, ServerConfig::default()).await
}

/// A server on free ports, with settings of the server itself.
pub async fn serve_with(settings: RouterConfig, config: ServerConfig) -> World {
    let free = ([127, 0, 0, 1], 0).into();
    let config = ServerConfig { grpc_addr: free, http_addr: free, admin_addr: free, ..config };
    let router = Arc::new(Router::new(settings));
    let running = start(config, Arc::clone(&router), None).await.expect("free ports are there");
    let channel = Channel::from_shared(format!("http://{}", running.grpc_addr()))
        .expect("an address makes a URI")
        .connect()
        .await
        .expect("the server listens");
    let client = InferenceCacheClient::new(channel.clone());
    World { router, running, client, explain: ExplainClient::new(channel) }
}

impl World {
    /// Sends updates on one stream and takes the acknowledgement.
    pub async fn report(&self, updates: Vec<wire::CacheStateUpdate>) -> wire::Ack {
        let updates = tokio_stream::iter(updates);
        self.client.clone().report_cache_state(updates).await.expect("reports are acked").into_inner()
    }

    /// Asks; an answer always comes.
    pub async fn lookup(&self, request: wire::LookupRouteRequest) -> wire::LookupRouteResponse {
        self.client.clone().lookup_route(request).await.expect("no lookup is an error").into_inner()
    }

    /// Publishes an event.
    pub async fn publish(&self, event: wire::CacheEvent) -> wire::Ack {
        self.client.clone().publish_event(event).await.expect("events are acked").into_inner()
    }

    /// State of what `tenant` and `model` admit.
    pub async fn state(&self, tenant: &str, model: &str) -> wire::GetCacheStateResponse {
        let request = wire::GetCacheStateRequest { model_id: model.to_owned(), tenant_id: tenant.to_owned() };
        self.client.clone().get_cache_state(request).await.expect("state is told").into_inner()
    }

    /// The value of one series on the metrics page; none where it is not there.
    pub async fn metric(&self, series: &str) -> Option<f64> {
        let page = http_get(self.running.http_addr(), "/metrics").await.1;
        value_of(&page, series)
    }
}

/// The value of one series on a metrics page.
pub fn value_of(page: &str, series: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

/// Status code and body.
pub async fn http_get(addr: std::net::SocketAddr, path: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(addr).await.expect("HTTP is served");
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the request is taken");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the response is text");
    let (head, body) = response.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status code");
    (status, body.to_owned())
}

/// Asks again until `is_met`; fails loudly where it never is.
pub async fn until<T, F: Future<Output = T>>(mut ask: impl FnMut() -> F, is_met: impl Fn(&T) -> bool) -> T {
    let asking = async {
        loop {
            let answer = ask().await;
            if is_met(&answer) {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asking).await.expect("what was waited for happens")
}
