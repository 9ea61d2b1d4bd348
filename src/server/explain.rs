//! The explain service: the answer that LookupRoute would give, and how it came about. Credits and counts nothing.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::Core;
use super::access::Caller;
use super::aside::aside;
use super::door::Arrival;
use crate::contract::wire::icache::v1alpha1::ExplainRouteResponse;
use crate::contract::wire::icache::v1alpha1::explain_server::Explain;
use crate::contract::wire::inferencecache::v1alpha1::LookupRouteRequest;
use crate::contract::{decode_request, encode_explanation};
use crate::explanation::explanation;

/// The handler.
pub(super) struct Explainer {
    core: Arc<Core>,
}

impl Explainer {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

#[tonic::async_trait]
impl Explain for Explainer {
    async fn explain_route(
        &self,
        request: Request<LookupRouteRequest>,
    ) -> Result<Response<ExplainRouteResponse>, Status> {
        let caller = Caller::of(&request);
        caller.may_name(&request.get_ref().tenant_id)?;
        let arrival = Arrival::of(&request);
        let message = request.into_inner();
        // There is little to explain, and the transport would not wait for another thread.
        if arrival.is_late() {
            return Ok(Response::new(explain(&self.core, &message, &arrival, &caller)));
        }
        let core = Arc::clone(&self.core);
        // It names what an index holds, and lists every candidate: much more than a lookup does.
        let explained = aside("explaining a lookup", move || explain(&core, &message, &arrival, &caller));
        Ok(Response::new(explained.await?))
    }
}

fn explain(
    core: &Core,
    message: &LookupRouteRequest,
    arrival: &Arrival,
    caller: &Caller,
) -> ExplainRouteResponse {
    let lookup = decode_request(message);
    let mut explained = core.router.explain(&lookup, arrival.call());
    explained.facts.tenants.retain(|tenant| caller.sees(tenant));
    encode_explanation(explanation(&explained, &lookup, super::grpc::micros(arrival.elapsed())))
}
