//! `POST /probe`: whether made-up state goes in and an answer comes out.
//!
//! The round trip runs through the ingest and the decision of this server's own code and limits, on an index that is
//! made for it and dropped with the answer: whatever happens on the way, nothing is left behind, and no lookup, gauge or
//! cap can ever see it.

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::admin::{Admin, MAX_PROBE_BYTES, aside, fault, json, read};
use crate::decision::Reason;
use crate::index::{DropCause, IndexConfig};
use crate::lookup::{Call, Router, RouterConfig};
use crate::model::{HashList, Limits, LookupRequest, PrefixEntry, Sourced, StateUpdate, Tier, Timestamp};
use crate::policy::{Defaults, PolicySet, TenantPolicy, default_ranker, resolve};

/// Tokens of the block that is made up.
const BLOCK_TOKENS: i32 = 16;

/// What is asked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    backend: String,
    model: String,
    hash_scheme: String,
    #[serde(default)]
    #[allow(dead_code)]
    backend_type: String,
}

/// How a stage went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stage {
    Ok,
    Failed,
    Skipped,
}

/// The answer.
#[derive(Serialize)]
struct Probed {
    backend: String,
    ingest: Stage,
    routing: Stage,
    t2: Stage,
    errors: Vec<StageError>,
}

#[derive(Serialize)]
struct StageError {
    stage: &'static str,
    message: String,
}

/// Answers a probe.
pub(super) async fn probe(State(admin): State<Admin>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match read(body, MAX_PROBE_BYTES) {
        Ok(body) => body,
        Err((status, what)) => return (status, format!("{what}\n")).into_response(),
    };
    let asked = match asked(&body) {
        Ok(asked) => asked,
        Err(what) => return bad(&what),
    };
    let limits = *admin.limits();
    match aside(move || round_trip(asked, limits)).await {
        Some(probed) => json(&probed),
        None => fault(),
    }
}

/// What `POST /probe` answers to a body, as JSON, or what is wrong with the body.
pub fn answer_probe(body: &[u8], limits: Limits) -> Result<String, String> {
    let probed = round_trip(asked(body)?, limits);
    serde_json::to_string(&probed).map_err(|error| error.to_string())
}

fn asked(body: &[u8]) -> Result<Asked, String> {
    let asked: Asked =
        serde_json::from_slice(body).map_err(|error| format!("the body is no probe: {error}"))?;
    let needed = [("backend", &asked.backend), ("model", &asked.model), ("hashScheme", &asked.hash_scheme)];
    if let Some((name, _)) = needed.into_iter().find(|(_, value)| value.is_empty()) {
        return Err(format!("the body is no probe: `{name}` is empty"));
    }
    Ok(asked)
}

fn bad(what: &str) -> Response {
    (StatusCode::BAD_REQUEST, format!("{what}\n")).into_response()
}

/// State of one replica in, and the question for it.
fn round_trip(asked: Asked, limits: Limits) -> Probed {
    let now = Timestamp::now();
    let router = world(limits);
    let replica = format!("__probe-{}", asked.backend);
    let (tenant, hash) = (TENANT, [0x1c_u8; 8]);
    let entry = PrefixEntry {
        prefix_hash: &hash,
        token_count: BLOCK_TOKENS,
        block_hashes: HashList::EMPTY,
        block_token_counts: &[],
        tier: Tier::T1,
        adapter: "",
    };
    let (model, scheme) = (asked.model.as_str(), asked.hash_scheme.as_str());
    let prefixes = vec![entry];
    let update = StateUpdate {
        replica: &replica,
        tenant,
        model,
        scheme,
        adapter: "",
        at: None,
        prefixes,
        stats: None,
    };
    let applied = router.index().apply_update(&update, now);
    let mut probed = Probed {
        ingest: Stage::Ok,
        routing: Stage::Skipped,
        t2: Stage::Skipped,
        errors: Vec::new(),
        backend: String::new(),
    };
    if applied.blocks != 1 {
        probed.ingest = Stage::Failed;
        let causes: Vec<_> = applied.dropped.iter().map(|cause| DropCause::label(*cause)).collect();
        let message = format!("the made-up report was dropped: {}", causes.join(", "));
        probed.errors.push(StageError { stage: "ingest", message });
        return Probed { backend: asked.backend, ..probed };
    }
    let request = LookupRequest {
        tenant,
        model,
        scheme,
        prefix_hash: &hash,
        prefix_token_count: BLOCK_TOKENS,
        ..LookupRequest::default()
    };
    let decision = router.route(&request, Call::at(now));
    let mut hints = decision.hints();
    let is_found = hints.next().is_some_and(|hint| {
        hint.replica.as_str() == replica && hint.matched_tokens == BLOCK_TOKENS && hints.next().is_none()
    });
    probed.routing = Stage::Ok;
    if decision.reason != Reason::PrefixMatch || !is_found {
        probed.routing = Stage::Failed;
        let message = format!("the lookup of the made-up report was answered {}", decision.reason.code());
        probed.errors.push(StageError { stage: "routing", message });
    }
    Probed { backend: asked.backend, ..probed }
}

/// The tenant within the world of the probe; outside of it nobody ever sees it.
const TENANT: &str = "probe";

/// A world of its own with the server's limits, and no floor that one block cannot reach.
fn world(limits: Limits) -> Router {
    let defaults = Defaults::default();
    let open = TenantPolicy {
        minimum_matched_tokens: Some(0),
        routing_floor_score: Some(0.0),
        ..TenantPolicy::default()
    };
    let mut policies = PolicySet::empty(&defaults);
    policies.insert(TENANT.into(), resolve(&open, &"the probe".into(), &defaults));
    Router::new(RouterConfig {
        index: IndexConfig { limits, ..IndexConfig::default() },
        policies,
        ranker: default_ranker(),
        max_in_flight: Sourced::built_in(0),
    })
}
