//! The `InferenceCache` service.

use std::sync::Arc;
use std::time::Duration;

use tonic::{Request, Response, Status, Streaming};

use super::door::Arrival;
use super::feeds::{self, Feed};
use super::{Core, metrics};
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::wire::inferencecache::v1alpha1::inference_cache_server::InferenceCache;
use crate::contract::{decode_request, encode_answer, encode_state};
use crate::decision::Reason;
use crate::explanation::answer;

/// RenderTemplate's code for a template that was rendered, and where no templates are loaded.
const RENDER_OK: &str = "OK";

/// The handler.
pub(super) struct Cache {
    core: Arc<Core>,
}

impl Cache {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

#[tonic::async_trait]
impl InferenceCache for Cache {
    async fn render_template(
        &self,
        _request: Request<wire::RenderTemplateRequest>,
    ) -> Result<Response<wire::RenderTemplateResponse>, Status> {
        let response =
            wire::RenderTemplateResponse { reason_code: RENDER_OK.to_owned(), ..Default::default() };
        Ok(Response::new(response))
    }

    async fn lookup_route(
        &self,
        request: Request<wire::LookupRouteRequest>,
    ) -> Result<Response<wire::LookupRouteResponse>, Status> {
        let arrival = Arrival::of(&request);
        let message = request.into_inner();
        let lookup = decode_request(&message);
        let mut record = metrics::LookupRecord::new(&self.core.metrics, lookup.model, arrival);
        let decision = self.core.router.route(&lookup, arrival.call());
        record.decide(&decision);
        let response = encode_answer(answer(&decision, &lookup, micros(arrival.elapsed())));
        Ok(Response::new(response))
    }

    async fn lookup_pd_route(
        &self,
        _request: Request<wire::LookupPdRouteRequest>,
    ) -> Result<Response<wire::LookupPdRouteResponse>, Status> {
        let reason_code = Reason::NoHint.code().to_owned();
        Ok(Response::new(wire::LookupPdRouteResponse { reason_code, ..Default::default() }))
    }

    async fn get_cache_state(
        &self,
        request: Request<wire::GetCacheStateRequest>,
    ) -> Result<Response<wire::GetCacheStateResponse>, Status> {
        let asked = request.get_ref();
        let state = self.core.router.index().cache_state(&asked.tenant_id, &asked.model_id);
        Ok(Response::new(encode_state(state)))
    }

    /// Applies each update as it arrives; one acknowledgement, when the client is done.
    async fn report_cache_state(
        &self,
        request: Request<Streaming<wire::CacheStateUpdate>>,
    ) -> Result<Response<wire::Ack>, Status> {
        let mut updates = request.into_inner();
        while let Some(update) = updates.message().await? {
            self.core.ingest.update(update).await?;
        }
        Ok(Response::new(acknowledged()))
    }

    async fn publish_event(&self, request: Request<wire::CacheEvent>) -> Result<Response<wire::Ack>, Status> {
        if let Some(event) = self.core.ingest.event(request.into_inner()).await? {
            self.core.feeds.publish(event);
        }
        Ok(Response::new(acknowledged()))
    }

    type StreamCacheEventsStream = Feed<wire::CacheEvent>;

    async fn stream_cache_events(
        &self,
        request: Request<wire::StreamEventsRequest>,
    ) -> Result<Response<Self::StreamCacheEventsStream>, Status> {
        let id_bytes = self.core.router.limits().id_bytes;
        Ok(Response::new(self.core.feeds.events(request.get_ref(), id_bytes)))
    }

    type StreamMetricsStream = Feed<wire::Metric>;

    async fn stream_metrics(
        &self,
        request: Request<wire::StreamMetricsRequest>,
    ) -> Result<Response<Self::StreamMetricsStream>, Status> {
        Ok(Response::new(feeds::metrics(&self.core, request.get_ref())))
    }
}

fn acknowledged() -> wire::Ack {
    wire::Ack { accepted: true, reason_code: String::new() }
}

/// A latency as the contract counts it.
pub(super) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
