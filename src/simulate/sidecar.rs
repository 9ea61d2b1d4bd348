//! What the sidecar of a modelled engine tells the index, in the words of the real one.

use super::tally::IndexTally;
use crate::engine::{Change, Fed, Identity, feed};
use crate::index::Applied;
use crate::lookup::Router;
use crate::model::{
    CacheEvent, EventKind, HashScheme, ModelId, ReplicaId, ReplicaStats, StateUpdate, TenantId, Timestamp,
};

/// One thing that a sidecar sends.
#[derive(Debug)]
pub(super) enum Sent {
    /// What changed in the cache.
    Changes(Vec<Change>),
    /// Statistics, as shares.
    Stats { hit_rate: f32, pressure: f32 },
    /// A sign of life.
    Alive,
    /// Nothing is held any more.
    Cleared,
}

impl Sent {
    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Changes(changes) if changes.is_empty())
    }
}

/// Tenant, model and hash scheme.
pub(super) type Keys<'a> = (&'a str, &'a str, &'a str);

/// Applies what a replica sent at the first of two times and what arrives at the second.
pub(super) fn deliver(
    sent: &Sent,
    router: &Router,
    (replica, (tenant, model, scheme)): (&ReplicaId, Keys<'_>),
    (at, now): (Timestamp, Timestamp),
    tally: &mut IndexTally,
) {
    let update = |update: &StateUpdate<'_>, tally: &mut IndexTally| {
        let Applied { blocks, evicted, .. } = router.apply_update(update, now);
        tally.stored_blocks += blocks;
        tally.evicted_cap += evicted.cap_lru + evicted.cap_lfu;
        tally.evicted_quota_keys += evicted.quota_keys;
    };
    match sent {
        Sent::Changes(changes) => {
            let identity = Identity {
                replica: replica.clone(),
                tenant: TenantId::from(tenant),
                model: ModelId::from(model),
                scheme: HashScheme::from(scheme),
            };
            feed(changes, &identity, Some(at), &mut |fed| match fed {
                Fed::Update(additions) => update(&additions, tally),
                Fed::Event(event) => tally.removed += router.apply_event(&event, now).removed,
            });
        }
        Sent::Stats { hit_rate, pressure } => {
            let stats = ReplicaStats { hit_rate: *hit_rate, pressure: *pressure, ..ReplicaStats::default() };
            let keys =
                StateUpdate { replica: replica.as_str(), tenant, model, scheme, ..StateUpdate::default() };
            update(&StateUpdate { at: Some(at), stats: Some(stats), ..keys }, tally);
        }
        Sent::Alive | Sent::Cleared => {
            let is_clear = matches!(sent, Sent::Cleared);
            let event = CacheEvent {
                kind: if is_clear { EventKind::AllCleared } else { EventKind::ReplicaUpdated },
                replica: replica.as_str(),
                tenant,
                model,
                prefix_hash: &[],
                adapter: "",
                at: Some(at),
            };
            tally.removed += router.apply_event(&event, now).removed;
        }
    }
}
