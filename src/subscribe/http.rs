//! The sidecar's own health and metrics over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

use super::metrics::Metrics;

/// Serves until the task is ended.
pub(super) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) -> std::io::Result<()> {
    let routes = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(page))
        .with_state(metrics);
    axum::serve(listener, routes).await
}

/// Ready once the engine and the server are connected, and the server knows what is held.
async fn readyz(State(metrics): State<Arc<Metrics>>) -> (StatusCode, &'static str) {
    match metrics.is_ready() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the engine or the server is not connected\n"),
    }
}

async fn page(State(metrics): State<Arc<Metrics>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render())
}
