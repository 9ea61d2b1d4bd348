//! Series that are there before anything is counted.

use super::build::algorithm;
use super::{EVENT_KINDS, Metrics};
use crate::index::DropCause;
use crate::model::Eviction;
use crate::server::connections::Port;

impl Metrics {
    /// Series whose labels are known from the start are there from the start: a rate needs its zero.
    pub(super) fn show_zeroes(&self) {
        self.shed.with_label_values::<&str>(&[]);
        self.over_limit.with_label_values::<&str>(&[]);
        self.ingest_blocks.with_label_values::<&str>(&[]);
        for feed in ["events", "metrics", "observe"] {
            self.observer_missed.with_label_values(&[feed]);
        }
        self.message_too_large.with_label_values::<&str>(&[]);
        self.drained_replicas.with_label_values::<&str>(&[]);
        for port in Port::ALL {
            self.connections.with_label_values(&[port.label()]);
            self.connections_refused.with_label_values(&[port.label()]);
        }
        for cause in DropCause::ALL {
            self.ingest_dropped.with_label_values(&[cause.label()]);
        }
        for kind in EVENT_KINDS {
            self.events.with_label_values(&[kind.label()]);
        }
        for algorithm in [Eviction::Lru, Eviction::Lfu].map(algorithm) {
            for reason in ["cap", "ttl"] {
                self.index_evictions.with_label_values(&[algorithm, reason]);
            }
        }
    }
}
