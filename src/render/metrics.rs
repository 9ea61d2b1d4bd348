//! The metrics of the server as a table for documents.

use std::fmt::Write as _;

use crate::server::{METRICS, MetricKind};

/// Every metric: name, type, labels, meaning.
pub fn metrics_table() -> String {
    let mut table = String::from("| name | type | labels | meaning |\n|---|---|---|---|\n");
    for metric in METRICS {
        let kind = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let labels = metric.labels.join(", ");
        let _ = writeln!(table, "| `{}` | {kind} | {labels} | {} |", metric.name, metric.help);
    }
    table
}
