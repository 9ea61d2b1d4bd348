//! Metrics of the policies in force.

use prometheus::{IntGauge, Registry};

use super::build::gauge;
use super::{Metric, Metrics, whole};
use crate::model::Timestamp;

/// What is shown of the policies.
pub(super) struct PolicyGauges {
    reload_success: IntGauge,
    reload_timestamp: IntGauge,
    policies: IntGauge,
}

impl PolicyGauges {
    pub(super) fn new(registry: &Registry) -> Self {
        let single = |metric| gauge(registry, metric).with_label_values::<&str>(&[]);
        let gauges = Self {
            reload_success: single(Metric::PolicyReloadSuccess),
            reload_timestamp: single(Metric::PolicyReloadTimestamp),
            policies: single(Metric::Policies),
        };
        gauges.reload_success.set(1);
        gauges
    }
}

impl Metrics {
    /// Policies were put in force; `policies` of them are now.
    pub(in crate::server) fn observe_policies(&self, policies: usize, now: Timestamp) {
        self.policies.policies.set(whole(policies as u64));
        self.policies.reload_timestamp.set(now.as_ns() / 1_000_000_000);
    }

    /// Whether what the policy files say is in force.
    pub(in crate::server) fn observe_reload(&self, succeeded: bool) {
        self.policies.reload_success.set(i64::from(succeeded));
    }
}
