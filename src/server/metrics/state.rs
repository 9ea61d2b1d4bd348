//! Metrics of the saved state.

use std::time::Duration;

use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntGauge, Registry};

use super::build::{built, counter, gauge};
use super::{Metric, Metrics, whole};
use crate::model::Timestamp;

/// Seconds.
const SAVE_BUCKETS: [f64; 10] = [10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1.0, 2.5, 5.0, 10.0];

/// What is shown of saving and loading.
pub(super) struct StateMetrics {
    duration: Histogram,
    success: IntGauge,
    timestamp: IntGauge,
    failures: IntCounter,
    loaded: IntGauge,
}

impl StateMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let single = |metric| gauge(registry, metric).with_label_values::<&str>(&[]);
        let info = Metric::StateSaveDuration.info();
        let options = HistogramOpts::new(info.name, info.help).buckets(SAVE_BUCKETS.to_vec());
        let metrics = Self {
            duration: built(registry, HistogramVec::new(options, info.labels)).with_label_values::<&str>(&[]),
            success: single(Metric::StateSaveSuccess),
            timestamp: single(Metric::StateSaveTimestamp),
            failures: counter(registry, Metric::StateSaveFailures).with_label_values::<&str>(&[]),
            loaded: single(Metric::StateLoadedEntries),
        };
        metrics.success.set(1);
        metrics
    }
}

impl Metrics {
    /// The state of `saved_at` was saved, or could not be.
    pub(in crate::server) fn observe_save(&self, took: Duration, succeeded: bool, saved_at: Timestamp) {
        let state = &self.state;
        state.duration.observe(took.as_secs_f64());
        state.success.set(i64::from(succeeded));
        if succeeded {
            state.timestamp.set(saved_at.as_ns() / 1_000_000_000);
        } else {
            state.failures.inc();
        }
    }

    /// The folder cannot be saved in.
    pub(in crate::server) fn observe_unkept(&self) {
        self.state.success.set(0);
    }

    /// The state of an earlier server was loaded.
    pub(in crate::server) fn observe_loaded(&self, entries: u64, saved_at: Timestamp) {
        self.state.loaded.set(whole(entries));
        self.state.timestamp.set(saved_at.as_ns() / 1_000_000_000);
    }
}
