//! The `InferenceCache` service.

use std::sync::Arc;
use std::time::Duration;

use tonic::{Request, Response, Status, Streaming};

use super::access::Caller;
use super::aside::aside;
use super::door::Arrival;
use super::feeds::{self, Feed};
use super::{Core, metrics};
use crate::contract::wire::icache::v1alpha1::ObservedLookup;
use crate::contract::wire::icache::v1alpha1::record::Body;
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::wire::inferencecache::v1alpha1::inference_cache_server::InferenceCache;
use crate::contract::{decode_request, encode_answer, encode_state};
use crate::decision::{Decision, GateId, Reason};
use crate::explanation::answer;
use crate::index::CacheState;
use crate::lookup::Call;
use crate::model::{Eviction, LookupRequest, PROBE_TENANT};

/// RenderTemplate's code for a template that was rendered, and where no templates are loaded.
const RENDER_OK: &str = "OK";

/// Blocks of a lookup that is answered on the spot.
const MAX_INLINE_BLOCKS: usize = 8_192;

/// Token ids of a lookup that is answered on the spot.
const MAX_INLINE_TOKENS: usize = 131_072;

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
        request: Request<wire::RenderTemplateRequest>,
    ) -> Result<Response<wire::RenderTemplateResponse>, Status> {
        Caller::of(&request).may_name(&request.get_ref().tenant_id)?;
        let response =
            wire::RenderTemplateResponse { reason_code: RENDER_OK.to_owned(), ..Default::default() };
        Ok(Response::new(response))
    }

    async fn lookup_route(
        &self,
        request: Request<wire::LookupRouteRequest>,
    ) -> Result<Response<wire::LookupRouteResponse>, Status> {
        Caller::of(&request).may_name(&request.get_ref().tenant_id)?;
        let arrival = Arrival::of(&request);
        let message = request.into_inner();
        if is_small(message.block_hashes.len(), message.token_ids.len()) {
            let mut record = metrics::LookupRecord::new(&self.core.metrics, &message.model_id, &arrival);
            let (decision, response) = look_up(&self.core, &message, &arrival);
            record.decide(&decision);
            return Ok(Response::new(response));
        }
        let (core, kept) = (Arc::clone(&self.core), arrival.clone());
        let model = message.model_id.clone();
        let looked_up = aside("a lookup", move || look_up(&core, &message, &kept)).await;
        // Not before: where the deadline passes meanwhile, this ends here, and the call is counted as a late one.
        let mut record = metrics::LookupRecord::new(&self.core.metrics, &model, &arrival);
        let (decision, response) = looked_up?;
        record.decide(&decision);
        Ok(Response::new(response))
    }

    async fn lookup_pd_route(
        &self,
        request: Request<wire::LookupPdRouteRequest>,
    ) -> Result<Response<wire::LookupPdRouteResponse>, Status> {
        Caller::of(&request).may_name(&request.get_ref().tenant_id)?;
        let reason_code = Reason::NoHint.code().to_owned();
        Ok(Response::new(wire::LookupPdRouteResponse { reason_code, ..Default::default() }))
    }

    async fn get_cache_state(
        &self,
        request: Request<wire::GetCacheStateRequest>,
    ) -> Result<Response<wire::GetCacheStateResponse>, Status> {
        let caller = Caller::of(&request);
        let asked = request.get_ref();
        caller.may_name(&asked.tenant_id)?;
        let index = self.core.router.index();
        let state = match caller.tenants().filter(|_| asked.tenant_id.is_empty()) {
            None => index.cache_state(&asked.tenant_id, &asked.model_id),
            Some(tenants) => {
                CacheState::joined(tenants.iter().map(|tenant| index.cache_state(tenant, &asked.model_id)))
            }
        };
        Ok(Response::new(encode_state(state)))
    }

    /// Applies each update as it arrives; one acknowledgement, when the client is done.
    async fn report_cache_state(
        &self,
        request: Request<Streaming<wire::CacheStateUpdate>>,
    ) -> Result<Response<wire::Ack>, Status> {
        let caller = Caller::of(&request);
        let mut updates = request.into_inner();
        while let Some(update) = updates.message().await? {
            caller.may_name(&update.tenant_id)?;
            self.core.ingest.update(update).await?;
        }
        Ok(Response::new(acknowledged()))
    }

    async fn publish_event(&self, request: Request<wire::CacheEvent>) -> Result<Response<wire::Ack>, Status> {
        Caller::of(&request).may_name(&request.get_ref().tenant_id)?;
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
        let caller = Caller::of(&request);
        caller.may_name(&request.get_ref().tenant_id)?;
        let id_bytes = self.core.router.limits().id_bytes;
        Ok(Response::new(self.core.feeds.events(request.get_ref(), id_bytes, caller)))
    }

    type StreamMetricsStream = Feed<wire::Metric>;

    async fn stream_metrics(
        &self,
        request: Request<wire::StreamMetricsRequest>,
    ) -> Result<Response<Self::StreamMetricsStream>, Status> {
        let caller = Caller::of(&request);
        Ok(Response::new(feeds::metrics(&self.core, request.get_ref(), caller)))
    }
}

/// Whether a lookup is answered on the spot: a larger one would hold up the calls that wait for the same thread.
pub(super) fn is_small(blocks: usize, tokens: usize) -> bool {
    blocks <= MAX_INLINE_BLOCKS && tokens <= MAX_INLINE_TOKENS
}

fn look_up(
    core: &Core,
    message: &wire::LookupRouteRequest,
    arrival: &Arrival,
) -> (Decision, wire::LookupRouteResponse) {
    decide(core, &decode_request(message), arrival, || message.clone())
}

/// Answers a lookup of any door, in its turn among what observers are told. `message` is what they are told was asked.
pub(super) fn decide(
    core: &Core,
    lookup: &LookupRequest<'_>,
    arrival: &Arrival,
    message: impl Fn() -> wire::LookupRouteRequest,
) -> (Decision, wire::LookupRouteResponse) {
    let mut turn = core.order.look_up();
    let call = Call { now: turn.now(), ..arrival.call() };
    let decision =
        if turn.owes() && core.router.policies().policy_of(lookup.tenant).eviction.value == Eviction::Lfu {
            let decision = core.router.peek(lookup, call);
            if decision.reason == Reason::PrefixMatch && !turn.owe(&message()) {
                core.router.route(lookup, Call::at(call.now));
            }
            decision
        } else {
            core.router.route(lookup, call)
        };
    let response = encode_answer(answer(&decision, lookup, micros(arrival.elapsed())));
    let is_left_out = decision.decided_by == GateId::LoadShed || lookup.tenant == PROBE_TENANT;
    turn.record(|| {
        let (request, answer) = (Some(message()), Some(response.clone()));
        (!is_left_out).then_some(Body::Lookup(ObservedLookup { request, answer }))
    });
    drop(turn);
    if !is_left_out {
        core.strangers.record(lookup, decision.reason, call.now);
    }
    (decision, response)
}

fn acknowledged() -> wire::Ack {
    wire::Ack { accepted: true, reason_code: String::new() }
}

/// A latency as the contract counts it.
pub(super) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
