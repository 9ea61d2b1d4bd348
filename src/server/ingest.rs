//! What producers send, on its way into the index.

use std::sync::Arc;

use tonic::Status;

use super::drops::DropLog;
use super::metrics::Metrics;
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::{decode_event, decode_update};
use crate::lookup::Router;
use crate::model::{EventKind, Timestamp};

/// Blocks of an update that are applied on the spot; a larger one goes to a thread that may block.
const MAX_INLINE_BLOCKS: usize = 1_024;

/// Applies updates and events, and observes what became of them.
#[derive(Clone)]
pub(super) struct Ingest {
    router: Arc<Router>,
    metrics: Arc<Metrics>,
    drops: Arc<DropLog>,
}

impl Ingest {
    pub(super) fn new(router: Arc<Router>, metrics: Arc<Metrics>) -> Self {
        Self { router, metrics, drops: Arc::default() }
    }

    /// Applies an update. An error is a fault of this server.
    pub(super) async fn update(&self, message: wire::CacheStateUpdate) -> Result<(), Status> {
        let blocks: usize = message.prefixes.iter().map(|entry| entry.block_hashes.len() + 1).sum();
        if blocks <= MAX_INLINE_BLOCKS {
            self.apply_update(&message);
            return Ok(());
        }
        let this = self.clone();
        aside(move || this.apply_update(&message)).await
    }

    /// Applies an event; the event again, where it was taken. An error is a fault of this server.
    pub(super) async fn event(&self, message: wire::CacheEvent) -> Result<Option<wire::CacheEvent>, Status> {
        // Clearing costs what the replica held; everything else is one step.
        if decode_event(&message).kind != EventKind::AllCleared {
            return Ok(self.apply_event(&message).then_some(message));
        }
        let this = self.clone();
        aside(move || this.apply_event(&message).then_some(message)).await
    }

    fn apply_update(&self, message: &wire::CacheStateUpdate) {
        let update = decode_update(message);
        let applied = self.router.index().apply_update(&update, Timestamp::now());
        self.metrics.observe_update(&update, &applied);
        for cause in &applied.dropped {
            self.drops.record(*cause, update.replica, update.tenant, update.model);
        }
    }

    fn apply_event(&self, message: &wire::CacheEvent) -> bool {
        let event = decode_event(message);
        let applied = self.router.index().apply_event(&event, Timestamp::now());
        self.metrics.observe_event(event.kind, &applied);
        if let Some(cause) = applied.dropped {
            self.drops.record(cause, event.replica, event.tenant, event.model);
        }
        applied.dropped.is_none()
    }
}

/// Runs `work` on a thread that may block.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Status> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "applying an update failed");
        Status::internal("the update could not be applied; the server's log says more")
    })
}
