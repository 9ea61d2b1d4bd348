//! What producers send, on its way into the index.

use std::collections::BTreeMap;
use std::sync::Arc;

use tonic::Status;

use super::aside::aside;
use super::drops::DropLog;
use super::feeds::Feeds;
use super::metrics::Metrics;
use super::observe;
use super::order::{Order, Turn};
use crate::contract::wire::inferencecache::v1alpha1 as wire;
use crate::contract::{decode_event, decode_update};
use crate::index::DropCause;
use crate::lookup::Router;
use crate::model::EventKind;

/// Blocks of an update that are applied on the spot; a larger one goes to a thread that may block.
const MAX_INLINE_BLOCKS: usize = 1_024;

/// Applies updates and events, and observes what became of them.
#[derive(Clone)]
pub(super) struct Ingest {
    router: Arc<Router>,
    metrics: Arc<Metrics>,
    order: Arc<Order>,
    feeds: Arc<Feeds>,
    drops: Arc<DropLog>,
}

impl Ingest {
    pub(super) fn new(
        router: Arc<Router>,
        metrics: Arc<Metrics>,
        order: Arc<Order>,
        feeds: Arc<Feeds>,
    ) -> Self {
        Self { router, metrics, order, feeds, drops: Arc::default() }
    }

    /// Applies an update. An error is a fault of this server.
    pub(super) async fn update(&self, mut message: wire::CacheStateUpdate) -> Result<(), Status> {
        let over = leave_out_over(&mut message, self.router.limits().request_blocks);
        let blocks: usize = message.prefixes.iter().map(blocks_of).sum();
        if blocks <= MAX_INLINE_BLOCKS
            && let Some(turn) = self.order.change_now()
        {
            self.apply_update(&message, over, turn);
            return Ok(());
        }
        let this = self.clone();
        aside("applying an update", move || this.apply_update(&message, over, this.order.change())).await
    }

    /// Applies an event; the event again, where it was taken. An error is a fault of this server.
    pub(super) async fn event(&self, message: wire::CacheEvent) -> Result<Option<wire::CacheEvent>, Status> {
        // Clearing costs what the replica held; everything else is one step.
        if decode_event(&message).kind != EventKind::AllCleared
            && let Some(turn) = self.order.change_now()
        {
            return Ok(self.apply_event(&message, turn).then_some(message));
        }
        let this = self.clone();
        aside("applying an event", move || this.apply_event(&message, this.order.change()).then_some(message))
            .await
    }

    /// `over` entries were left out of the message.
    fn apply_update(&self, message: &wire::CacheStateUpdate, over: u64, mut turn: Turn<'_>) {
        let update = decode_update(message);
        let now = turn.now();
        let applied = self.router.apply_update(&update, now);
        turn.record(|| observe::report(message));
        drop(turn);
        self.feeds.publish_added(message, &applied, self.router.index(), now);
        let mut dropped = BTreeMap::new();
        if over > 0 {
            dropped.insert(DropCause::TooManyBlocks, over);
        }
        for cause in &applied.dropped {
            *dropped.entry(*cause).or_default() += 1;
        }
        self.metrics.observe_update(&update, &applied, &dropped);
        for (cause, count) in dropped {
            self.drops.record(cause, count, update.replica, update.tenant, update.model);
        }
    }

    fn apply_event(&self, message: &wire::CacheEvent, mut turn: Turn<'_>) -> bool {
        let event = decode_event(message);
        let applied = self.router.apply_event(&event, turn.now());
        turn.record(|| observe::event(message));
        drop(turn);
        self.metrics.observe_event(event.kind, &applied);
        if let Some(cause) = applied.dropped {
            self.drops.record(cause, 1, event.replica, event.tenant, event.model);
        }
        applied.dropped.is_none()
    }
}

/// Blocks that an entry counts as: those of its chain, and 1 for a single hash.
fn blocks_of(entry: &wire::PrefixEntry) -> usize {
    entry.block_hashes.len().max(1)
}

/// Removes the entries that do not fit into `limit` blocks, and says how many they were. An update takes memory a second
/// time when it is decoded, and this bounds it.
fn leave_out_over(message: &mut wire::CacheStateUpdate, limit: usize) -> u64 {
    let before = message.prefixes.len();
    let mut room = limit;
    message.prefixes.retain(|entry| match room.checked_sub(blocks_of(entry)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    (before - message.prefixes.len()) as u64
}
