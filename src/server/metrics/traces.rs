//! Spans that went to the collector, and those that did not.

use prometheus::{IntCounterVec, Registry};

use super::build::counter;
use super::{Metric, Metrics};

/// Why a span was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::server) enum SpanLoss {
    QueueFull,
    NotSent,
}

impl SpanLoss {
    const ALL: [Self; 2] = [Self::QueueFull, Self::NotSent];

    fn label(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::NotSent => "not_sent",
        }
    }
}

/// The values.
pub(super) struct TraceMetrics {
    sent: IntCounterVec,
    dropped: IntCounterVec,
}

impl TraceMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let metrics = Self {
            sent: counter(registry, Metric::TraceSpansSent),
            dropped: counter(registry, Metric::TraceSpansDropped),
        };
        metrics.sent.with_label_values::<&str>(&[]);
        for cause in SpanLoss::ALL {
            metrics.dropped.with_label_values(&[cause.label()]);
        }
        metrics
    }
}

impl Metrics {
    /// The collector took so many spans.
    pub(in crate::server) fn observe_spans_sent(&self, spans: u64) {
        self.traces.sent.with_label_values::<&str>(&[]).inc_by(spans);
    }

    /// So many spans were dropped.
    pub(in crate::server) fn observe_spans_lost(&self, cause: SpanLoss, spans: u64) {
        self.traces.dropped.with_label_values(&[cause.label()]).inc_by(spans);
    }
}
