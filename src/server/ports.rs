//! The ports: where they listen, and what is served on them.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::CompressionEncoding;
use tonic_health::pb::health_server::HealthServer;

use super::connections::{Doorman, PING_EVERY, PING_WAIT};
use super::door::Door;
use super::guards::Guards;
use super::metrics::Metrics;
use super::{Core, ServerConfig, StartError, explain, fast, grpc, health, observe, tls};
use crate::contract::wire::DESCRIPTORS;
use crate::contract::wire::icache::v1alpha1::explain_server::ExplainServer;
use crate::contract::wire::icache::v1alpha1::fast_lookup_server::FastLookupServer;
use crate::contract::wire::icache::v1alpha1::observe_server::ObserveServer;
use crate::contract::wire::inferencecache::v1alpha1::inference_cache_server::InferenceCacheServer;

pub(super) async fn bind(flag: &'static str, addr: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(addr).await.map_err(|source| StartError::Bind { flag, addr, source })
}

/// Every gRPC service, on one port.
pub(super) fn grpc_services(
    config: &ServerConfig,
    core: &Arc<Core>,
) -> Result<tonic::transport::server::Router, StartError> {
    let cache = InferenceCacheServer::new(grpc::Cache::new(Arc::clone(core)))
        .max_decoding_message_size(config.max_message_bytes)
        .accept_compressed(CompressionEncoding::Gzip);
    let explain = ExplainServer::new(explain::Explainer::new(Arc::clone(core)))
        .max_decoding_message_size(config.max_message_bytes)
        .accept_compressed(CompressionEncoding::Gzip);
    let observe = ObserveServer::new(observe::ObserveService::new(Arc::clone(core)))
        .max_decoding_message_size(config.max_message_bytes)
        .accept_compressed(CompressionEncoding::Gzip);
    let fast = FastLookupServer::new(fast::Fast::new(Arc::clone(core)))
        .max_decoding_message_size(config.max_message_bytes)
        .accept_compressed(CompressionEncoding::Gzip);
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    Ok(tonic::transport::Server::builder()
        .max_concurrent_streams(config.max_streams)
        .http2_keepalive_interval(Some(PING_EVERY))
        .http2_keepalive_timeout(Some(PING_WAIT))
        .add_service(Door::new(cache, core, config.message_wait))
        .add_service(Door::new(explain, core, config.message_wait))
        .add_service(Door::new(observe, core, config.message_wait))
        .add_service(Door::new(fast, core, config.message_wait))
        .add_service(HealthServer::new(health::HealthService::new(core.phase.clone())))
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?))
}

/// Serves gRPC, over TLS where there are certificates.
pub(super) fn serve_grpc(
    services: tonic::transport::server::Router,
    listener: TcpListener,
    guards: &Guards,
    doorman: Doorman,
    metrics: &Arc<Metrics>,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<Result<(), tonic::transport::Error>> {
    metrics.observe_tls(guards.tls.is_some());
    match &guards.tls {
        None => {
            let incoming = ReceiverStream::new(doorman.incoming(listener));
            tokio::spawn(services.serve_with_incoming_shutdown(incoming, stopped))
        }
        Some(tls) => {
            let secured = tls::accept(listener, Arc::clone(tls), doorman, Arc::clone(metrics));
            tokio::spawn(services.serve_with_incoming_shutdown(ReceiverStream::new(secured), stopped))
        }
    }
}

/// Serves the admin port, over TLS where there are certificates.
pub(super) fn serve_admin(
    routes: axum::Router,
    listener: TcpListener,
    guards: &Guards,
    doorman: Doorman,
    metrics: &Arc<Metrics>,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<std::io::Result<()>> {
    match &guards.tls {
        None => {
            let incoming = doorman.clone().incoming(listener);
            tokio::spawn(doorman.serve(incoming, routes, stopped))
        }
        Some(tls) => {
            let secured = tls::accept(listener, Arc::clone(tls), doorman.clone(), Arc::clone(metrics));
            tokio::spawn(doorman.serve(secured, routes, stopped))
        }
    }
}
