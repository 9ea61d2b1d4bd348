//! `grpc.health.v1.Health`: serving until the server drains, and watchers are told.

use std::pin::Pin;

use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::NamedService;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::Phase;
use crate::contract::wire::icache::v1alpha1::explain_server::ExplainServer;
use crate::contract::wire::icache::v1alpha1::observe_server::ObserveServer;
use crate::contract::wire::inferencecache::v1alpha1::inference_cache_server::InferenceCacheServer;

/// The services whose health is told; the empty name is the server as a whole.
const NAMES: [&str; 4] = [
    "",
    <InferenceCacheServer<super::grpc::Cache> as NamedService>::NAME,
    <ExplainServer<super::explain::Explainer> as NamedService>::NAME,
    <ObserveServer<super::observe::ObserveService> as NamedService>::NAME,
];

/// Health as the phase of the server has it.
pub(super) struct HealthService {
    phase: watch::Receiver<Phase>,
}

impl HealthService {
    pub(super) fn new(phase: watch::Receiver<Phase>) -> Self {
        Self { phase }
    }
}

/// The name as it is known here; callers' names are not kept.
fn known(service: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|name| *name == service)
}

fn status_in(phase: Phase, service: Option<&'static str>) -> ServingStatus {
    match phase {
        _ if service.is_none() => ServingStatus::ServiceUnknown,
        Phase::Serving => ServingStatus::Serving,
        Phase::Draining => ServingStatus::NotServing,
    }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl Health for HealthService {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        match status_in(*self.phase.borrow(), known(&request.get_ref().service)) {
            ServingStatus::ServiceUnknown => Err(Status::not_found("no such service here")),
            status => Ok(Response::new(response(status))),
        }
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    /// Tells the status now and the change, and ends with the server: a watcher must not hold up its stop.
    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let service = known(&request.into_inner().service);
        let mut phase = self.phase.clone();
        let (sender, receiver) = mpsc::channel(2);
        tokio::spawn(async move {
            loop {
                let now = *phase.borrow_and_update();
                let is_sent = sender.send(Ok(response(status_in(now, service)))).await.is_ok();
                if !is_sent || now == Phase::Draining {
                    return;
                }
                tokio::select! {
                    changed = phase.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}
