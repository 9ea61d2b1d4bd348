//! Health and metrics over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use super::metrics::Sizes;
use super::{Core, Phase};
use crate::model::Timestamp;

/// What the port answers.
pub(super) fn routes(core: Arc<Core>) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(core)
}

async fn readyz(State(core): State<Arc<Core>>) -> (StatusCode, &'static str) {
    match *core.phase.borrow() {
        Phase::Serving => (StatusCode::OK, "ready\n"),
        Phase::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
    }
}

async fn metrics(State(core): State<Arc<Core>>) -> impl IntoResponse {
    core.metrics.observe_drained(core.router.drains().all(Timestamp::now()).len());
    let page = core.metrics.render(&Sizes::of(&core.router));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page)
}
