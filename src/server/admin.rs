//! The admin port: what controllers and operators read and change. Every request shows a token first, where there are
//! tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use tokio::time::timeout;

use super::access::Callers;
use super::metrics::{AuthResult, Endpoint};
use super::policies::{Policies, rfc3339};
use super::tokens::{AdminTokens, bearer};
use super::watched::Watched;
use super::{ConfigView, Core, probe, snapshot};
use crate::lookup::Drained;
use crate::model::{Limits, Timestamp};
use crate::policy::{MAX_PUSH_BYTES, decode_push};

/// Version of the shapes of `/drain`.
const DRAIN_VERSION: u32 = 1;

/// Bytes of the body of a probe.
pub(super) const MAX_PROBE_BYTES: usize = 16 << 10;

/// Time from the head of a request to its answer, its body included.
const REQUEST_WAIT: Duration = Duration::from_secs(30);

/// What the port needs.
#[derive(Clone)]
pub(super) struct Admin(Arc<Parts>);

struct Parts {
    core: Arc<Core>,
    policies: Arc<Policies>,
    tokens: Option<Arc<Watched<AdminTokens>>>,
    callers: Option<Arc<Watched<Callers>>>,
    config: ConfigView,
}

impl Admin {
    /// Without `tokens` everybody is admitted; `callers` tells those who are known elsewhere from those who are not.
    pub(super) fn new(
        core: Arc<Core>,
        policies: Arc<Policies>,
        tokens: Option<Arc<Watched<AdminTokens>>>,
        callers: Option<Arc<Watched<Callers>>>,
        config: ConfigView,
    ) -> Self {
        Self(Arc::new(Parts { core, policies, tokens, callers, config }))
    }

    /// Limits on what one message may hold.
    pub(super) fn limits(&self) -> &Limits {
        self.0.core.router.limits()
    }

    /// How a request with this header is judged.
    fn judge(&self, authorization: Option<&[u8]>) -> AuthResult {
        let Some(tokens) = &self.0.tokens else { return AuthResult::Ok };
        let Some(token) = authorization.and_then(bearer) else { return AuthResult::Unauthenticated };
        if tokens.current().admit(&token) {
            return AuthResult::Ok;
        }
        let is_known = self.0.callers.as_ref().is_some_and(|callers| callers.current().knows(&token));
        if is_known { AuthResult::Forbidden } else { AuthResult::Unauthenticated }
    }
}

/// What the port answers.
pub(super) fn routes(admin: Admin) -> Router {
    let guarded =
        |endpoint, routes: Router<Admin>| routes.layer(from_fn_with_state((admin.clone(), endpoint), admit));
    let policy = Router::new()
        .route("/policy", get(show_policies).post(push_policies).put(push_policies))
        .layer(DefaultBodyLimit::max(MAX_PUSH_BYTES));
    let drain = Router::new()
        .route("/drain", get(list_drained))
        .route("/drain/{*replica}", get(show_drain).post(drain_replica).delete(undo_drain));
    let probing =
        Router::new().route("/probe", post(probe::probe)).layer(DefaultBodyLimit::max(MAX_PROBE_BYTES));
    Router::new()
        .merge(guarded(Endpoint::Policy, policy))
        .merge(guarded(Endpoint::Snapshot, Router::new().route("/snapshot", get(show_snapshot))))
        .merge(guarded(Endpoint::Unknown, Router::new().route("/unknown", get(show_unknown))))
        .merge(guarded(Endpoint::Config, Router::new().route("/config", get(show_config))))
        .merge(guarded(Endpoint::Drain, drain))
        .merge(guarded(Endpoint::Probe, probing))
        .with_state(admin)
}

/// Lets a request through that may come in, and counts how it was judged.
async fn admit(State((admin, endpoint)): State<(Admin, Endpoint)>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let judged = admin.judge(authorization);
    let (result, response) = match judged {
        AuthResult::Ok | AuthResult::Error => {
            let response = match timeout(REQUEST_WAIT, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let what = "the request took too long to come, or to be answered\n";
                    (StatusCode::REQUEST_TIMEOUT, what).into_response()
                }
            };
            let result = if response.status().is_server_error() { AuthResult::Error } else { AuthResult::Ok };
            (result, response)
        }
        AuthResult::Unauthenticated => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            let what = "send `Authorization: Bearer TOKEN` with a token of the admin port\n";
            (judged, (StatusCode::UNAUTHORIZED, challenge, what).into_response())
        }
        AuthResult::Forbidden => {
            let what = "this is the token of a gRPC caller; the admin port has tokens of its own\n";
            (judged, (StatusCode::FORBIDDEN, what).into_response())
        }
    };
    tracing::debug!(endpoint = endpoint.label(), result = result.label(), "admin request");
    admin.0.core.metrics.observe_admin(endpoint, result);
    response
}

async fn show_policies(State(admin): State<Admin>) -> Response {
    let page = aside(move || serde_json::to_vec(&admin.0.policies.view())).await;
    match page {
        Some(Ok(page)) => ([(header::CONTENT_TYPE, "application/json")], page).into_response(),
        _ => fault(),
    }
}

async fn push_policies(State(admin): State<Admin>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match read(body, MAX_PUSH_BYTES) {
        Ok(body) => body,
        Err((status, what)) => return (status, format!("{what}; nothing was changed\n")).into_response(),
    };
    let pushed = match decode_push(&body) {
        Ok(pushed) => pushed,
        Err(error) => {
            return (StatusCode::BAD_REQUEST, format!("{error}; nothing was changed\n")).into_response();
        }
    };
    match aside(move || admin.0.policies.push(pushed)).await {
        Some(()) => StatusCode::NO_CONTENT.into_response(),
        None => fault(),
    }
}

/// The body, or what is wrong with it.
pub(super) fn read(body: Result<Bytes, BytesRejection>, most: usize) -> Result<Bytes, (StatusCode, String)> {
    body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {most} bytes"))
        }
        status => (status, format!("the body cannot be read: {}", error.body_text())),
    })
}

async fn show_snapshot(State(admin): State<Admin>) -> Response {
    match aside(move || snapshot::view(&admin.0.core.router.index().snapshot())).await {
        Some(view) => json(&view),
        None => fault(),
    }
}

async fn show_unknown(State(admin): State<Admin>) -> Response {
    let view = move || admin.0.core.strangers.view(admin.0.core.router.index());
    match aside(view).await {
        Some(view) => json(&view),
        None => fault(),
    }
}

async fn show_config(State(admin): State<Admin>) -> Response {
    json(&admin.0.config)
}

/// What `/drain` tells of one replica.
#[derive(Serialize)]
struct DrainView {
    version: u32,
    #[serde(flatten)]
    drain: Drain,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Drain {
    replica_id: String,
    drained: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// What `/drain` tells of all.
#[derive(Serialize)]
struct DrainsView {
    version: u32,
    drained: Vec<Drain>,
}

impl Drain {
    fn of(drained: &Drained) -> Self {
        Self {
            replica_id: drained.replica.as_str().to_owned(),
            drained: true,
            since: Some(rfc3339(drained.since)),
            until: Some(rfc3339(drained.until)),
        }
    }

    fn none(replica: &str) -> Self {
        Self { replica_id: replica.to_owned(), drained: false, since: None, until: None }
    }

    fn answer(self) -> Response {
        json(&DrainView { version: DRAIN_VERSION, drain: self })
    }
}

async fn list_drained(State(admin): State<Admin>) -> Response {
    let drained = admin.0.core.router.drains().all(Timestamp::now());
    json(&DrainsView { version: DRAIN_VERSION, drained: drained.iter().map(Drain::of).collect() })
}

async fn show_drain(State(admin): State<Admin>, Path(replica): Path<String>) -> Response {
    match admin.0.core.router.drains().get(&replica, Timestamp::now()) {
        Some(drained) => Drain::of(&drained).answer(),
        None => Drain::none(&replica).answer(),
    }
}

async fn drain_replica(State(admin): State<Admin>, Path(replica): Path<String>) -> Response {
    let router = &admin.0.core.router;
    let most = router.limits().id_bytes;
    if replica.len() > most {
        let what = format!("a replica id has {most} bytes at most; nothing was changed\n");
        return (StatusCode::BAD_REQUEST, what).into_response();
    }
    match router.drains().drain(&replica, Timestamp::now()) {
        Ok(drained) => {
            tracing::info!(replica, "drained: it gets no hints until that is undone, or for a day");
            Drain::of(&drained).answer()
        }
        Err(error) => (StatusCode::INSUFFICIENT_STORAGE, format!("{error}\n")).into_response(),
    }
}

async fn undo_drain(State(admin): State<Admin>, Path(replica): Path<String>) -> Response {
    if admin.0.core.router.drains().undo(&replica, Timestamp::now()) {
        tracing::info!(replica, "drained no more: it gets hints again");
    }
    Drain::none(&replica).answer()
}

/// Runs `work` on a thread that may block: a change waits for the one before it, and evicts what is over a quota.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work)
        .await
        .inspect_err(|error| tracing::error!(%error, "an admin request failed"))
        .ok()
}

/// An answer in JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(page) => ([(header::CONTENT_TYPE, "application/json")], page).into_response(),
        Err(error) => {
            tracing::error!(%error, "an admin answer cannot be written");
            fault()
        }
    }
}

pub(super) fn fault() -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "the request failed; the server's log says more\n").into_response()
}
