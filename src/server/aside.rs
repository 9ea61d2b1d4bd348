//! Work that would hold up other calls, on a thread that may block.

use tonic::Status;

/// Runs `work` there. An error means that it panicked, and is a fault of this server; `what` names the work in the log.
pub(super) async fn aside<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Status> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "{what} failed");
        Status::internal(format!("{what} failed; the server's log says more"))
    })
}
