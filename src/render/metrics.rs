//! Metrics as a table for documents.

use std::fmt::Write as _;

use crate::server::{MetricInfo, MetricKind};

/// Some metrics: name, type, labels, meaning.
pub fn metrics_table(metrics: &[MetricInfo]) -> String {
    let mut table = String::from("| name | type | labels | meaning |\n|---|---|---|---|\n");
    for metric in metrics {
        let kind = metric_type(metric.kind);
        let labels = metric.labels.join(", ");
        let _ = writeln!(table, "| `{}` | {kind} | {labels} | {} |", metric.name, metric.help);
    }
    table
}

/// The type as Prometheus calls it.
pub(super) fn metric_type(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    }
}
