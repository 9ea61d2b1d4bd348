//! Metrics that are read off the index when somebody looks at them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Metrics, whole};
use crate::index::IndexGauges;
use crate::lookup::Router;
use crate::model::{ReplicaId, Timestamp};

/// What the gauges are set from.
pub(in crate::server) struct Sizes {
    pub(in crate::server) index: IndexGauges,
    /// Replicas with entries that have gone silent, by model.
    pub(in crate::server) silent_by_model: BTreeMap<String, u64>,
    /// Replicas that were heard of lately, by model.
    pub(in crate::server) live_by_model: BTreeMap<String, BTreeSet<ReplicaId>>,
    /// When all that was so.
    pub(in crate::server) at: Timestamp,
}

impl Sizes {
    /// Those of now.
    pub(in crate::server) fn of(router: &Router) -> Self {
        let at = Timestamp::now();
        Self {
            index: router.index().gauges(),
            silent_by_model: router.silent_replicas(at),
            live_by_model: router.live_replicas(at),
            at,
        }
    }
}

impl Metrics {
    /// Models beyond the bound are summed; a model that has drained stays, at 0.
    pub(super) fn set_gauges(&self, sizes: &Sizes) {
        let gauges = &sizes.index;
        self.admit_models(gauges.keys_by_model.keys());
        let by_model = [
            (&self.index_entries, &gauges.keys_by_model),
            (&self.index_replicas, &gauges.replicas_by_model),
            (&self.index_silent_replicas, &sizes.silent_by_model),
        ];
        for (gauge, counts) in by_model {
            gauge.reset();
            for model in self.models.names().iter() {
                gauge.with_label_values(&[model.as_ref()]).set(0);
            }
            for (model, count) in counts {
                gauge.with_label_values(&[self.models.label(model)]).add(whole(*count));
            }
        }
        self.index_replica_entries.with_label_values::<&str>(&[]).set(whole(gauges.entries));
        self.index_memory_bytes.with_label_values::<&str>(&[]).set(whole(gauges.memory_bytes));
        self.set_concentration(&sizes.live_by_model, sizes.at);
    }
}
