//! The admin port: reads and replaces what a controller manages.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

use super::policies::Policies;
use crate::policy::{MAX_PUSH_BYTES, decode_push};

/// Serves until `stopped`.
pub(super) async fn serve(
    listener: TcpListener,
    policies: Arc<Policies>,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let routes = Router::new()
        .route("/policy", get(show_policies).post(push_policies).put(push_policies))
        .layer(DefaultBodyLimit::max(MAX_PUSH_BYTES))
        .with_state(policies);
    axum::serve(listener, routes).with_graceful_shutdown(stopped).await
}

async fn show_policies(State(policies): State<Arc<Policies>>) -> Response {
    let page = aside(move || serde_json::to_vec(&policies.view())).await;
    match page {
        Some(Ok(page)) => ([(header::CONTENT_TYPE, "application/json")], page).into_response(),
        _ => fault(),
    }
}

async fn push_policies(
    State(policies): State<Arc<Policies>>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let what = format!("the body is larger than {MAX_PUSH_BYTES} bytes; nothing was changed\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, what).into_response();
        }
        Err(error) => {
            let what = format!("the body cannot be read: {}; nothing was changed\n", error.body_text());
            return (error.status(), what).into_response();
        }
    };
    let pushed = match decode_push(&body) {
        Ok(pushed) => pushed,
        Err(error) => {
            return (StatusCode::BAD_REQUEST, format!("{error}; nothing was changed\n")).into_response();
        }
    };
    match aside(move || policies.push(pushed)).await {
        Some(()) => StatusCode::NO_CONTENT.into_response(),
        None => fault(),
    }
}

/// Runs `work` on a thread that may block: a change waits for the one before it, and evicts what is over a quota.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work)
        .await
        .inspect_err(|error| tracing::error!(%error, "an admin request failed"))
        .ok()
}

fn fault() -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "the request failed; the server's log says more\n").into_response()
}
